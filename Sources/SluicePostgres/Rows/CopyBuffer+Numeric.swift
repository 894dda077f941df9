extension CopyBuffer {
    /// Appends a `numeric` field with exactly the digits of a decimal text, trailing zeros behind the point included.
    ///
    /// A binary `numeric` is its digits of base 10,000, the weight of the first of them, a sign, and how many decimal
    /// digits behind the point are shown. False where the text is no decimal, or one too long for the server.
    mutating func appendNumeric(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let decimal = DecimalText(text) else { return false }
        let field = beginField()
        append(Int64(0))  // four 16-bit words, written at the end
        var groups = 0
        var weight = 0
        var pendingZeros = 0
        for group in decimal.groups.reversed() {
            let value = decimal.value(ofGroup: group)
            guard value != 0 else {
                if groups > 0 { pendingZeros += 1 }
                continue
            }
            if groups == 0 { weight = group }
            for _ in 0..<pendingZeros { append(0 as Int16) }
            append(value)
            groups += pendingZeros + 1
            pendingZeros = 0
        }
        overwrite(Int16(truncatingIfNeeded: groups), at: field)
        overwrite(Int16(truncatingIfNeeded: weight), at: field + 2)
        overwrite(decimal.isNegative && groups > 0 ? 0x4000 as Int16 : 0, at: field + 4)
        overwrite(Int16(truncatingIfNeeded: decimal.scale), at: field + 6)
        endField(from: field)
        return true
    }
}
