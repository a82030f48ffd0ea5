import Foundation
import Testing

/// `pipelines/README.md` lists the files of its folder, and no others.
@Suite struct GalleryReadmeTests {
  private static let folder = Installation.package.appending(path: "pipelines")
  private let text: String
  private let files: Set<String>

  init() throws {
    text = String(decoding: try Data(contentsOf: Self.folder.appending(path: "README.md")), as: UTF8.self)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.folder.path)
    files = Set(
      paths.filter { path in
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(
          atPath: Self.folder.appending(path: path).path, isDirectory: &isFolder)
        let isGenerated = path.split(separator: "/").contains { $0.hasPrefix(".") || $0 == "__pycache__" }
        return exists && !isFolder.boolValue && !isGenerated && path != "README.md"
      })
  }

  /// Names in backticks of files, and of folders with their slash.
  private var names: Set<String> {
    Set(
      text.matches(of: /`([a-z0-9\/-]+(?:\/|\.(?:sh|py|c|html|svg|swift|txt)))`/).map { String($0.1) }
        .filter { !$0.hasPrefix("build/") && !$0.hasPrefix("demo/") })
  }

  @Test func everyFileIsNamed() {
    #expect(files.count > 15)
    for file in files.sorted() {
      let isNamed = names.contains { file == $0 || $0.hasSuffix("/") && file.hasPrefix($0) }
      #expect(isNamed, "README.md does not mention \(file)")
    }
  }

  @Test func everyNamedFileExists() {
    for name in names.sorted() {
      let exists = files.contains(name) || name.hasSuffix("/") && files.contains { $0.hasPrefix(name) }
      #expect(exists, "README.md mentions \(name), which does not exist")
    }
    for command in text.matches(of: /(?m)pipelines\/([a-z0-9\/.-]+)/).map({ String($0.1) }) {
      let exists = files.contains(command) || files.contains { $0.hasPrefix("\(command)/") }
      #expect(exists, "README.md runs \(command), which does not exist")
    }
  }

  /// Each entry leads to its section, in the same order, and each section has a command.
  @Test func tableOfContents() {
    let entries = text.matches(of: /(?m)^ +- \[`(.+?)`\]\(#(.+?)\)/).map { [String($0.1), String($0.2)] }
    let headings = text.matches(of: /(?m)^### `(.+?)`$/).map { String($0.1) }
    #expect(entries.count > 15 && entries == headings.map { [$0, Self.anchor($0)] })
    let sections = text.split(separator: "\n### ").dropFirst()
    for section in sections {
      #expect(section.contains(/(?m)^ {4}\S/), "no command in \(section.prefix { $0 != "\n" })")
    }
  }

  /// As GitHub makes it from a heading.
  private static func anchor(_ heading: String) -> String {
    String(heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
  }
}
