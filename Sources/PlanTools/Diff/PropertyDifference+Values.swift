import EventSchema

/// The third stage, for facts about the values that a property allows.
extension PropertyDifference {
    /// What it means for everybody that other values are allowed.
    var valueImpacts: Impacts {
        switch kind {
        case .shapeAdded: Impacts(swift: Self.otherArgument, http: Self.otherShape, consumers: Self.fewer)
        case .shapeRemoved: Impacts(swift: Self.otherArgument, http: Self.more, consumers: Self.others)
        case .enumAdded: Impacts(swift: Self.otherArgument, http: rejection("not-in-enum"), consumers: Self.fewer)
        case .enumRemoved: Impacts(swift: Self.otherArgument, http: Self.more, consumers: Self.others)
        case .enumValueAdded:
            Impacts(
                swift: .breaking("a `switch` over the cases without `default` does not compile"),
                http: Self.more,
                consumers: .risky("a value may come that never came")
            )
        case .enumValueRemoved:
            Impacts(
                swift: .breaking("the case is gone: code that names it does not compile"),
                http: rejection("not-in-enum"),
                consumers: Self.fewer
            )
        case .limitTightened: Impacts(swift: Self.throwsNow, http: rejection(limitCode), consumers: Self.fewer)
        case .limitLoosened, .patternRemoved: Impacts(swift: Self.more, http: Self.more, consumers: Self.others)
        case .patternAdded: Impacts(swift: Self.throwsNow, http: rejection("pattern-mismatch"), consumers: Self.fewer)
        default:
            Impacts(
                swift: Self.throwsNow,
                http: .risky("texts that match only the old one are rejected with `pattern-mismatch`"),
                consumers: Self.others
            )
        }
    }

    /// The verdict on a value beyond a limit that allows less now.
    private var limitCode: String {
        guard new.type == .string else { return "out-of-range" }
        let isShorter = new.minLength ?? 0 > old.minLength ?? 0
        let isLonger = new.maxLength ?? .max < old.maxLength ?? .max
        return isShorter && isLonger ? "too-short` or `too-long" : isShorter ? "too-short" : "too-long"
    }

    private func rejection(_ code: String) -> Impact {
        .breaking("values that were valid are rejected with `\(code)`")
    }

    private static let otherShape = Impact.breaking("what has another shape is rejected, as `wrong-type` mostly")
    private static let otherArgument = Impact.breaking("the argument has another type")
    private static let throwsNow = Impact.risky("it compiles; `track` throws for values that are no longer allowed")
    private static let more = Impact.compatible("all that was allowed still is")
    private static let fewer = Impact.compatible("all that comes could have come before")
    private static let others = Impact.risky("values may come that never came")
}

extension Impacts {
    fileprivate init(swift: Impact, http: Impact, consumers: Impact) {
        self.init(swift: swift, http: http, sql: consumers, kafka: consumers)
    }
}
