import GStreamerKit
import SDLApp

/// The property `app-names`: the app's name by language.
struct AppNames: Equatable, Sendable {
  private static let lengths = 1...100
  private static let mostSynonyms = 100
  private static let longestSynonym = 40

  /// By language tags such as DE-DE.
  private(set) var values: [String: String] = [:]

  init() {}

  /// Reads a structure whose fields are named like languages. Nil is none.
  init(_ structure: StructureView?) throws(InvalidPropertyValue) {
    for language in structure?.fieldNames ?? [] {
      guard let name = structure?.string(language), Self.lengths.contains(name.unicodeScalars.count) else {
        throw InvalidPropertyValue("the name in \(language) must be a text of 1 to 100 characters")
      }
      values[language] = name
    }
  }

  /// The value of the property; nil for none.
  var structure: Structure? {
    guard !values.isEmpty else { return nil }
    let structure = Structure("names")
    for (language, name) in values.sorted(by: { $0.key < $1.key }) { structure.set(language, name) }
    return structure
  }

  /// The value of the property `vr-synonyms`.
  static func synonyms(_ text: String) throws(InvalidPropertyValue) -> [String] {
    let names = text.split(separator: ",").map { String($0.drop { $0 == " " }) }
    guard names.count <= mostSynonyms, names.allSatisfy({ (1...longestSynonym).contains($0.unicodeScalars.count) })
    else {
      throw InvalidPropertyValue("at most \(mostSynonyms) names of 1 to \(longestSynonym) characters are possible")
    }
    return names
  }
}
