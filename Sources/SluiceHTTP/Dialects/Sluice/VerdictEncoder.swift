import EventModel
import EventValidation

/// Encodes the response bodies of Sluice's own format, which say what was accepted and what was rejected, and why.
enum VerdictEncoder {
    /// The body of the response to a single accepted event.
    static let acceptedOne = #"{"accepted":1,"rejected":[]}"#

    /// The body of the response to a body of several events, or of one rejected event.
    ///
    /// `{"accepted":N,"rejected":[…]}`. If events were rejected, it also has `rejectedCount`, `rejectedIndexes` (pairs of the
    /// first and the last index of a range) and `rejectedCodes` (the number of events for each code; an event counts for its
    /// first code). `rejected` explains as many of the first rejected events as the check described and as fit into
    /// a response of `maximumBytes`.
    ///
    /// `accepted` is the number of accepted events; `nil` stands for all valid ones.
    static func verdicts(of body: CheckedBody, accepted: Int? = nil, within maximumBytes: Int) -> [UInt8] {
        let accepted = accepted ?? body.batch?.count ?? 0
        var bytes = Array(#"{"accepted":\#(accepted),"rejected":["#.utf8)
        guard body.rejected.count > 0 else { return bytes + Array("]}".utf8) }
        let summary = summary(of: body.rejected)
        let room = maximumBytes - AnswerEncoder.maximumHeaderBytes - summary.count
        bytes.reserveCapacity(64 + body.explainedCount * 256 + summary.count)
        for (position, rejection) in body.rejections.prefix(body.explainedCount).enumerated() {
            let end = bytes.count
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            append(rejection, to: &bytes)
            guard bytes.count <= room else {
                bytes.removeLast(bytes.count - end)
                break
            }
        }
        return bytes + summary
    }

    /// The summary of all rejected events: the rest of the body, from the end of `rejected`.
    ///
    /// It takes at most `AnswerEncoder.bytesPerIndex` for each event, and `AnswerEncoder.bytesBesidesIndexes`.
    private static func summary(of rejected: RejectionTally) -> [UInt8] {
        var bytes = Array(#"],"rejectedCount":\#(rejected.count),"rejectedIndexes":["#.utf8)
        bytes.reserveCapacity(bytes.count + rejected.indexes.count * 16 + rejected.codes.count * 32)
        for (position, range) in rejected.indexes.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: "[\(range.lowerBound),\(range.upperBound)]".utf8)
        }
        bytes.append(contentsOf: #"],"rejectedCodes":{"#.utf8)
        var isFirst = true
        for code in VerdictCode.allCases {
            guard let count = rejected.codes[code] else { continue }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            bytes.append(contentsOf: #""\#(code.rawValue)":\#(count)"#.utf8)
        }
        bytes.append(contentsOf: "}}".utf8)
        return bytes
    }

    private static func append(_ rejection: Rejection, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"index":"#.utf8)
        bytes.append(contentsOf: String(rejection.index).utf8)
        bytes.append(contentsOf: #","id":"#.utf8)
        if let id = rejection.id {
            JSONString.append(id, to: &bytes)
        } else {
            bytes.append(contentsOf: "null".utf8)
        }
        bytes.append(contentsOf: #","errors":"#.utf8)
        rejection.violations.appendJSON(to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }
}
