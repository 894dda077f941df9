import EventModel
import JSONTape

/// How far the check of one body has come, and what it gave so far.
package struct BodyProgress: ~Copyable {
    /// Where the check continues.
    enum Place {
        /// At the beginning of a document. Can transition to: elements, when the document is an array whose elements are
        /// checked one by one; end.
        case document
        /// At the beginning of a line, so many bytes into the text. Can transition to: end.
        case lines(Int)
        /// Between two elements of an array. The error is what is wrong with the array if it turns out to be none.
        /// Can transition to: end.
        case elements(JSONElementScanner, JSONError)
        /// Everything is checked. No way out.
        case end
    }

    var place: Place
    var collector: BatchCollector
    let arrival: Timestamp

    /// About how many bytes of memory it holds.
    package var byteCount: Int { collector.byteCount }
}
