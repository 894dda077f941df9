import Foundation
package import TrackerKit

/// A source as it is named on the command line.
package enum ReplayInput: Sendable, Hashable, CustomStringConvertible {
    /// `-`.
    case standardInput
    /// A path.
    case file(String)
    /// `journal://DIR`.
    case journal(folder: String)
    /// The selected quarantine.
    case quarantine

    private static let journalScheme = "journal://"

    /// Parses an argument; anything that names nothing else is a path.
    package init(_ argument: String) {
        self =
            switch argument {
            case "-": .standardInput
            case "quarantine": .quarantine
            case _ where argument.hasPrefix(Self.journalScheme):
                .journal(folder: String(argument.dropFirst(Self.journalScheme.count)))
            default: .file(argument)
            }
    }

    /// The argument.
    package var description: String {
        switch self {
        case .standardInput: "-"
        case .file(let path): path
        case .journal(let folder): Self.journalScheme + folder
        case .quarantine: "quarantine"
        }
    }

    /// The number of bytes to read; `nil` if it is not known in advance.
    package var byteCount: Int? {
        switch self {
        case .standardInput, .quarantine: nil
        case .file(let path): (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
        case .journal(let folder): JournalSource.byteCount(ofFolder: folder)
        }
    }

    /// Opens the source; `stop` ends the reading, even while the source waits for input.
    ///
    /// - Throws: Whatever keeps the source from being read, with a description for the operator.
    package func open(_ selection: ReplaySelection, stop: Interrupt) throws -> any ReplaySource {
        switch self {
        case .standardInput: try FileSource(path: nil, selection, stop: stop)
        case .file(let path): try FileSource(path: path, selection, stop: stop)
        case .journal(let folder): try JournalSource(folder: folder, selection, stop: stop)
        case .quarantine: try selection.quarantine.source(selection, stop: stop)
        }
    }
}
