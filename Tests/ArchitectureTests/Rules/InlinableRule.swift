/// Forbids `@inlinable` on `package` declarations: this compiler does not inline them into other modules.
///
/// The attribute would promise a speed that is not there. A hot call that crosses modules is `public`, or
/// `@_spi public` if users must not see it.
enum InlinableRule {
    static func findings(in file: TextFile, code: [String]) -> [Finding] {
        code.indices.compactMap { index in
            guard code[index].containsBytes("@inlinable"), declaration(from: index, of: code).contains("package ")
            else { return nil }
            return Finding(
                path: file.path,
                line: index + 1,
                sentence: "@inlinable has no effect on a package declaration; make it public or remove the attribute"
            )
        }
    }

    /// The lines from the attribute to the one with the declaration's keyword.
    private static func declaration(from index: Int, of code: [String]) -> String {
        let end = code[index...].firstIndex { $0.wholeMatch(of: /\s*(@\w+(\(\w+\))?\s*)*/) == nil }
        return code[index...(end ?? index)].joined(separator: " ")
    }
}
