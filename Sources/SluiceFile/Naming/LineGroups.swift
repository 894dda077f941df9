import EventModel
import EventValidation
import TrackerKit

/// The events of a delivery as lines, by the files that they belong in.
struct LineGroups {
    /// The lines for one file, in the order of the delivery.
    struct Group {
        let target: FileTarget
        var lines: [UInt8] = []
    }

    /// What decides about the file of an event.
    private struct Key: Hashable {
        let catalog: ObjectIdentifier
        let definition: UInt32
        /// The beginning of a time in RFC 3339.
        let time: String
    }

    private let paths: FilePaths
    private(set) var groups: [Group] = []
    private var places: [Key: Int] = [:]
    private var placesByTarget: [FileTarget: Int] = [:]

    init(_ delivery: Delivery, _ paths: FilePaths) {
        self.paths = paths
        // Events that come one after another mostly belong in the same file.
        var last: (key: Key, place: Int)?
        for event in delivery {
            let line = event.batch.line(at: event.index)
            let key = key(of: event, line)
            let place = last.flatMap { $0.key == key ? $0.place : nil } ?? place(of: key, event)
            last = (key, place)
            groups[place].lines.append(contentsOf: line)
            groups[place].lines.append(UInt8(ascii: "\n"))
        }
    }

    private func key(of event: TrackedEvent, _ line: UnsafeRawBufferPointer) -> Key {
        Key(
            catalog: ObjectIdentifier(event.batch.catalog),
            definition: paths.template.dependsOnEvent ? event.batch.entries[event.index].definitionIndex : 0,
            time: time(of: event, line)
        )
    }

    private func time(of event: TrackedEvent, _ line: UnsafeRawBufferPointer) -> String {
        let length = paths.template.timeLength
        guard length > 0 else { return "" }
        guard let line = CanonicalLine(line) else { return String(event.time.description.prefix(length)) }
        return String(decoding: line.rawText(of: line.range(of: paths.pathTime)).prefix(length), as: UTF8.self)
    }

    private mutating func place(of key: Key, _ event: TrackedEvent) -> Int {
        if let place = places[key] { return place }
        let target = paths.target(event: event.name, time: key.time)
        let place = placesByTarget[target] ?? groups.count
        if place == groups.count { groups.append(Group(target: target)) }
        placesByTarget[target] = place
        places[key] = place
        return place
    }
}

extension CanonicalLine {
    /// The place of the time that paths depend on.
    func range(of pathTime: FileConfiguration.PathTime) -> Range<Int> {
        switch pathTime {
        case .arrival: receivedAt
        case .event: time
        }
    }
}
