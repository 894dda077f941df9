import EventModel
package import EventSchema

/// Where the canonical lines of an event have decimals, which are strings there, and how to write them as numbers.
package struct DecimalPlaces {
    /// The most digits that a decimal may have before its point; further ones are lost in targets in Python, which count with 28.
    static let maximumWhole = 19
    /// The most digits after the point, without zeros at the end.
    static let maximumFraction = 9

    /// What is known of a value that is a decimal or has some in it.
    private indirect enum Place {
        case decimal
        /// The members with decimals, by their keys in canonical form, with the quotation marks.
        case object([(key: [UInt8], place: Place)])
        case array(Place)

        init?(_ properties: [PropertyDefinition]) {
            let members = properties.compactMap { property in
                property.isDropped
                    ? nil : Place(property).map { (key: JSONString.canonical(property.name), place: $0) }
            }
            if members.isEmpty { return nil }
            self = .object(members)
        }

        private init?(_ property: PropertyDefinition) {
            switch property.type.kind {
            case .decimal: self = .decimal
            case .object:
                guard let place = Place(property.properties ?? []) else { return nil }
                self = place
            case .array:
                guard let place = property.items.flatMap({ Place($0) }) else { return nil }
                self = .array(place)
            default: return nil
            }
        }
    }

    private let root: Place

    /// Finds the decimals of an event; `nil` if it has none.
    package init?(of event: EventDefinition) {
        guard let payload = Place(event.properties) else { return nil }
        root = .object([(JSONString.canonical("payload"), payload)])
    }

    /// Appends a canonical line with its decimals as numbers; returns whether each of them has few enough digits.
    package func append(_ line: UnsafeRawBufferPointer, to output: inout [UInt8]) -> Bool {
        var copy = LineCopy(line)
        let fits = copy.copyValue(root, to: &output)
        copy.copyRest(to: &output)
        return fits
    }

    /// Copies a canonical line, which is valid JSON without spaces.
    private struct LineCopy {
        private let line: UnsafeRawBufferPointer
        private var position = 0
        /// Everything before it is copied.
        private var copied = 0

        init(_ line: UnsafeRawBufferPointer) {
            self.line = line
        }

        mutating func copyRest(to output: inout [UInt8]) {
            output.append(contentsOf: line[copied...])
            copied = line.count
        }

        /// Moves behind a value, and copies the decimals in it; returns whether all of them fit.
        mutating func copyValue(_ place: Place?, to output: inout [UInt8]) -> Bool {
            switch (place, line[position]) {
            case (.decimal, UInt8(ascii: "\"")): return copyDecimal(to: &output)
            case (.object(let members), UInt8(ascii: "{")):
                return copyElements(to: &output) { copy, output in
                    let key = copy.string()
                    // The colon.
                    copy.position += 1
                    let member = members.first { $0.key.elementsEqual(copy.line[key]) }
                    return copy.copyValue(member?.place, to: &output)
                }
            case (.array(let items), UInt8(ascii: "[")):
                return copyElements(to: &output) { copy, output in copy.copyValue(items, to: &output) }
            default:
                skipValue()
                return true
            }
        }

        /// Copies the elements of an array or the members of an object, and moves behind it.
        private mutating func copyElements(
            to output: inout [UInt8],
            _ copyElement: (inout LineCopy, inout [UInt8]) -> Bool
        ) -> Bool {
            var fits = true
            position += 1
            while line[position] != UInt8(ascii: "}"), line[position] != UInt8(ascii: "]") {
                if line[position] == UInt8(ascii: ",") { position += 1 }
                fits = copyElement(&self, &output) && fits
            }
            position += 1
            return fits
        }

        private mutating func copyDecimal(to output: inout [UInt8]) -> Bool {
            let text = string()
            output.append(contentsOf: line[copied..<text.lowerBound])
            let digits = line[text.lowerBound + 1..<text.upperBound - 1]
            output.append(contentsOf: digits)
            copied = text.upperBound
            let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
            let whole = parts[0].count { $0 != UInt8(ascii: "-") }
            let zeros = parts.count == 1 ? 0 : parts[1].reversed().prefix { $0 == UInt8(ascii: "0") }.count
            let fraction = parts.count == 1 ? 0 : parts[1].count - zeros
            return whole <= maximumWhole && fraction <= maximumFraction
        }

        /// Moves behind a string; returns its place with the quotation marks.
        private mutating func string() -> Range<Int> {
            let start = position
            position += 1
            while line[position] != UInt8(ascii: "\"") { position += line[position] == UInt8(ascii: "\\") ? 2 : 1 }
            position += 1
            return start..<position
        }

        private mutating func skipValue() {
            var depth = 0
            repeat {
                switch line[position] {
                case UInt8(ascii: "\""):
                    _ = string()
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                position += 1
            } while depth > 0 || !isAtEndOfValue
        }

        /// Whether what follows does not belong to the value before it.
        private var isAtEndOfValue: Bool {
            guard position < line.count else { return true }
            return switch line[position] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): true
            default: false
            }
        }
    }
}
