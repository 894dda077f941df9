import EventSchema
package import EventValidation

/// The validator's result for one event, in the form of the reference implementation.
package enum ValidatorOutcome {
    case accepted(String)
    case rejected([String])
    case malformed(String)

    /// The result for a document that is one event.
    package init(of text: [UInt8], by validator: EventValidator) {
        do {
            let checked = try validator.check(bytes: text)
            self = Self.each(of: checked).first ?? .malformed("nothing at all")
        } catch let error as MalformedBody {
            self = .malformed(error.violation.code.rawValue)
        } catch {
            self = .malformed("\(error)")
        }
    }

    /// The results for each event of a body, in their order.
    package static func each(of checked: CheckedBody) -> [ValidatorOutcome] {
        var outcomes = checked.lines.map(ValidatorOutcome.accepted)
        for rejection in checked.rejections {
            let reasons = rejection.violations.map { violation in
                "\(violation.code.rawValue) \(violation.path)" + (violation.location.map { " @\($0.line)" } ?? "")
            }
            outcomes.insert(.rejected(reasons), at: min(rejection.index, outcomes.count))
        }
        return outcomes
    }

    /// The id of an accepted event.
    package var id: String {
        guard case .accepted(let line) = self else { return "" }
        return String(line.dropFirst(7).prefix(36))
    }

    /// Whether both results agree.
    ///
    /// The order of violations, and the choice of ten among more of them, may differ.
    package func agrees(with wanted: ReferenceCheck.Outcome, isDocument: Bool) -> Bool {
        switch (self, wanted) {
        case (.accepted(let line), .accepted(let wanted)):
            return Array(line.utf8) == Array(wanted.utf8)
        case (.rejected(let reasons), .malformed):
            return !isDocument && reasons == ["malformed-json $"]
        case (.rejected(let reasons), .rejected(let wanted)) where wanted.count <= 10:
            return reasons.sorted() == wanted.sorted()
        case (.rejected(let reasons), .rejected(let wanted)):
            var left = wanted
            return reasons.count == 10
                && reasons.allSatisfy { reason in
                    left.firstIndex(of: reason).map { left.remove(at: $0) } != nil
                }
        case (.malformed(let code), .malformed):
            return code == "malformed-json"
        default:
            return false
        }
    }
}
