/// The text forms of the plan's types as regular expressions that mean the same in ECMAScript and Python.
enum SchemaPattern {
    private static let end = PortablePattern.end

    static let text = #"^[^\u0000\ud800-\udfff]*"# + end

    static let uuid = "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}" + end

    /// A number in JSON's grammar, with an exponent that the validator accepts after any digits.
    ///
    /// The validator also accepts some larger exponents, depending on the number of digits, which a pattern cannot count.
    static let decimal =
        #"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?0*(?:[0-9]|[1-5][0-9]|6[0-4]))?"# + end

    /// Matches zero and positive numbers, if the text is known to be a decimal.
    static let notNegative = "^(?!-[0.]*[1-9])"

    static let date = "^" + calendarDate + end

    static let timestamp =
        "^" + calendarDate + "[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)"
        + #"(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"# + end

    /// The days of the Gregorian calendar in the years 0001 to 9999.
    private static let calendarDate =
        "(?!0000)(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
        + "|02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
        + "-02-29)"

    /// A timestamp with second 60 (a leap second), which must be in the last minute of a day in UTC.
    ///
    /// With a positive offset, the local time is the offset minus one minute; with a negative offset, it is 23:59 minus the
    /// offset.
    static let leapSecond = "^[0-9-]{10}[Tt](?:23:59[:0-9.]+[Zz]|\(east)|\(west))" + end

    private static let rest = "[:0-9.]+"

    private static let east: String = {
        let sameTen = (0...8).map { #"\#($0)\#(rest)\+\1:?\2[\#($0 + 1)]"# }.joined(separator: "|")
        let nextTen = (0...4).map { #"\#($0)9\#(rest)\+\1:?\#($0 + 1)0"# }.joined(separator: "|")
        let nextHour = (0..<24).map { #"\#(padded($0)):59\#(rest)\+\#(padded(($0 + 1) % 24))(?::?00|\#(end))"# }
        return "([01][0-9]|2[0-3]):(?:([0-5])(?:\(sameTen))|\(nextTen))|" + nextHour.joined(separator: "|")
    }()

    private static let west: String = {
        let hours = (0..<24).map { "\(padded($0))\(rest)-\(padded(23 - $0))" }.joined(separator: "|")
        // An offset without minutes is one of a whole hour.
        let tens = (0..<6).map { "\($0)\(rest)-[0-9]{2}(?::?\(5 - $0)\($0 == 5 ? "|" + end : ""))" }
            .joined(separator: "|")
        let ones = (0..<10).map { "\($0)\(rest)-[0-9]{2}(?::?[0-9]\(9 - $0)\($0 == 9 ? "|" + end : ""))" }
            .joined(separator: "|")
        return "(?=\(hours))[0-9]{2}:(?=\(tens))[0-9](?:\(ones))"
    }()

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
