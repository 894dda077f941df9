/// Comparisons whose time does not depend on the bytes, so that a secret cannot be found byte by byte.
package enum ConstantTime {
    /// Whether two arrays are equal; their lengths are no secret.
    package static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        guard first.count == second.count else { return false }
        var difference: UInt8 = 0
        for index in first.indices { difference |= first[index] ^ second[index] }
        return difference == 0
    }
}
