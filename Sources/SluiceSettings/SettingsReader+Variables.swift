import EventSchema
package import SettingDefinitions
import TrackerKit

extension SettingsReader {
    /// The environment variables that look like settings and are none, each as a warning with the closest known name.
    ///
    /// They are no errors, because other programs may set variables with the same prefix.
    package var unknownVariables: [SettingProblem] {
        let (known, others) = variables
        let names = environment.keys.filter {
            $0.hasPrefix("SLUICE_") && !known.contains($0) && !Self.isFromCluster($0)
        }
        return names.sorted().map { name in
            let nearest = others[name] ?? Spelling.nearest(to: name, among: known.sorted())
            let hint = nearest.map { "did you mean \($0)?" } ?? "'sluice config example' shows all of them"
            return SettingProblem(
                code: .unknownVariable,
                place: .name(name),
                sentence: "no setting has this environment variable; \(hint)"
            )
        }
    }

    /// The variables of all settings, and the variable of each setting by another name that suggests itself.
    private var variables: (known: Set<String>, others: [String: String]) {
        var known = Set(SettingCatalog.keys.map(\.environmentVariable))
        // Such as SLUICE_POSTGRES_URL for DATABASE_URL.
        var others = Dictionary(
            uniqueKeysWithValues: SettingCatalog.keys.map {
                (SettingKey.environmentVariable(derivedFrom: $0.name), $0.environmentVariable)
            }
        )
        let own = SettingCatalog.trackerTypes.map { (name: $0.type, type: $0) }
        for (name, type) in own + namedTrackers.map({ ($0.name, $0.type) }) {
            for key in SettingCatalog.keys(ofTracker: type) {
                let variable = SettingName(key, ofTracker: name).environmentVariable
                known.insert(variable)
                // Such as SLUICE_TRACKERS_POSTGRES_URL for DATABASE_URL.
                let section = "trackers.\(name).\(key.nameOfTracker ?? key.name)"
                others[SettingKey.environmentVariable(derivedFrom: section)] = variable
            }
        }
        return (known, others)
    }

    /// Whether Kubernetes sets the variable, in every pod beside a service with the name `sluice`.
    private static func isFromCluster(_ name: String) -> Bool {
        name.wholeMatch(of: /SLUICE_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT|PORT_\d+_.+)/) != nil
    }
}
