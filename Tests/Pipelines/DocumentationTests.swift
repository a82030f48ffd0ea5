import Foundation
import Testing

/// README, CONTRIBUTING and the pages in `docs/`.
@Suite struct DocumentationTests {
  private static let pages: [String] = {
    let docs = (try? FileManager.default.contentsOfDirectory(atPath: Installation.package.appending(path: "docs").path))
    return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pipelines/README.md"]
      + (docs ?? []).filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
  }()

  private static func text(_ page: String) throws -> String {
    try String(contentsOf: Installation.package.appending(path: page), encoding: .utf8)
  }

  /// Links to other files, with their anchors, as written in a page; those to other sites are left out.
  private static func links(in page: String) throws -> [String] {
    try text(page).matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }.filter { !$0.contains("://") }
  }

  @Test func readmeIsShort() throws {
    #expect(try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 161)
  }

  @Test func latestChangesAreOfThisVersion() throws {
    let version = try Self.text("Sources/CVersion/version.h").firstMatch(of: /_VERSION "(.+)"/)?.1
    let latest = try Self.text("CHANGELOG.md").firstMatch(of: /(?m)^## \[(.+)\] - \d{4}-\d\d-\d\d$/)?.1
    let package = try Self.text("debian/changelog").firstMatch(of: /^gst-smartdevicelink \((.+?)\)/)?.1
    let presets = try Self.text("packaging/GstSdlVideoSink.prs").firstMatch(of: /(?m)^version=(.+)$/)?.1
    #expect(version != nil && latest == version && package == version && presets == version)
  }

  /// `make help` lists all targets but those that others are made of.
  @Test func everyTargetHasAHelp() throws {
    let makefile = try Self.text("Makefile").replacing("\\\n", with: " ")
    let explained = makefile.matches(of: /(?m)^## .+\n([a-z-]+):/).map { $0.1 }
    let phony = makefile.firstMatch(of: /(?m)^\.PHONY: (.+)$/)?.1 ?? ""
    #expect(Set(explained + ["tests"]) == Set(phony.split(separator: " ")))
  }

  /// The table of errors and warnings is that of the sources, and it has found them.
  @Test func everyMessageIsListed() throws {
    let folder = try TemporaryFolder()
    let script = Installation.package.appending(path: "scripts/document-messages").path
    let result = try Program.run("/usr/bin/python3", script, in: folder)
    #expect(result.status == 0, "\(result)")
    let rows = try Self.text("docs/troubleshooting.md").matches(of: /(?m)^\| <a id="([a-z0-9-]+)"><\/a>(.+?) \|/)
    #expect(rows.count > 90 && Set(rows.map { $0.1 }).count == rows.count)
    for text in ["Connection refused by …: nothing listens on that port", "Bluetooth is switched off"] {
      #expect(rows.contains { $0.2 == text }, "\(text)")
    }
  }

  /// Each field of `sdl-stats`, as gst-inspect lists them, is on the page of its element.
  @Test(arguments: [("sdlvideosink", 40), ("sdlaudiosink", 24), ("sdlheadunitsrc", 20), ("sdlheadunitaudiosrc", 17)])
  func everyCounterIsDescribed(element: String, atLeast count: Int) throws {
    let properties = try Self.text("Tests/Pipelines/Golden/\(element).txt").split(separator: "\n\n")
      .flatMap { $0.split(separator: /\n(?=  \S)/) }
    let statistics = try #require(properties.first { $0.hasPrefix("  sdl-stats ") })
    let fields = statistics.matches(of: /\n {20,}([a-z0-9-]+): (?!.*readable)/).map { $0.1 }
    #expect(fields.count >= count, "\(fields)")
    let page = try Self.text("docs/\(element).md")
    for field in fields { #expect(page.contains("`\(field)`"), "docs/\(element).md does not tell of \(field)") }
  }

  /// A method or property that a page names is in the sources.
  @Test(arguments: ["docs/architecture.md", "docs/transports.md", "CONTRIBUTING.md"])
  func everyMemberExists(_ page: String) throws {
    let members = try Self.text(page).matches(of: /`([A-Z]\w+)\.(\w+)[`(]/).filter { !["swift", "md"].contains($0.2) }
    #expect(members.count > 3)
    let missing = try members.map { (type: String($0.1), member: String($0.2)) }.filter { type, member in
      let declaration = try Regex("\\b(class|struct|enum|protocol|extension) \(type)\\b")
      return !Self.sources.contains { $0.contains(member) && $0.contains(declaration) }
    }
    #expect(missing.isEmpty)
  }

  /// The texts of all Swift files.
  private static let sources: [String] = ["Sources", "Tests"].flatMap { folder in
    let files = FileManager.default.enumerator(
      at: Installation.package.appending(path: folder), includingPropertiesForKeys: nil)
    return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
  }

  /// Every page is reached from the README, directly or through other pages.
  @Test func everyPageIsReached() throws {
    var reached: Set<String> = []
    var open = ["README.md"]
    while let page = open.popLast() {
      guard reached.insert(page).inserted, Self.pages.contains(page) else { continue }
      open += try Self.links(in: page).map { Self.target(of: $0, in: page).path }
    }
    for page in Self.pages { #expect(reached.contains(page), "no link leads to \(page)") }
  }

  @Test(arguments: pages)
  func everyLinkLeadsSomewhere(_ page: String) throws {
    for link in try Self.links(in: page) {
      let (path, anchor) = Self.target(of: link, in: page)
      let file = Installation.package.appending(path: path).path
      #expect(FileManager.default.fileExists(atPath: file), "\(page) links to \(link)")
      guard let anchor, FileManager.default.fileExists(atPath: file) else { continue }
      let headings = try Self.text(path).matches(of: /(?m)^#+ (.+)$/).map { Self.anchor(String($0.1)) }
      #expect(headings.contains(anchor), "\(page) links to \(link)")
    }
  }

  /// The file that a link means, from the package's folder, and the anchor in it.
  private static func target(of link: String, in page: String) -> (path: String, anchor: String?) {
    let parts = link.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
    let anchor = parts.count > 1 ? parts[1] : nil
    guard let path = parts.first, !path.isEmpty else { return (page, anchor) }
    let folder = page.split(separator: "/").dropLast().map(String.init)
    let steps = (folder + path.split(separator: "/").map(String.init)).reduce(into: [String]()) { steps, name in
      if name == ".." { _ = steps.popLast() } else { steps.append(name) }
    }
    return (steps.joined(separator: "/"), anchor)
  }

  /// As GitHub makes it from a heading.
  private static func anchor(_ heading: String) -> String {
    String(
      heading.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
  }

  /// Two pages say how many behaviour scripts there are.
  @Test(arguments: ["docs/behaviour-scripts.md", "docs/testing-without-a-car.md"])
  func numberOfScripts(_ page: String) throws {
    let folder = Installation.package.appending(path: "pipelines/scripts").path
    let count = try FileManager.default.contentsOfDirectory(atPath: folder).count { $0.hasSuffix(".txt") }
    #expect(try Self.text(page).contains(" \(count) scripts"))
  }

  /// Scripts and programs that a page names exist; the gallery names them from its own folder, and has its own test.
  @Test(arguments: pages.filter { $0 != "pipelines/README.md" })
  func everyExampleExists(_ page: String) throws {
    for path in try Self.text(page).matches(of: /\b((?:pipelines|scripts|meson-wrap)\/[A-Za-z0-9\/._-]*[A-Za-z0-9\/])/)
    {
      #expect(
        FileManager.default.fileExists(atPath: Installation.package.appending(path: String(path.1)).path),
        "\(page) names \(path.1)")
    }
  }
}
