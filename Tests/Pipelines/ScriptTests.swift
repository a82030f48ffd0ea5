import Foundation
import Testing

/// The examples in `pipelines/`, for a few pictures each.
@Suite struct ScriptTests {
  private let folder: TemporaryFolder
  private let pipelines = Installation.package.appending(path: "pipelines")

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Every script but those with a test of their own.
  private static let scripts: [String] = {
    let folder = Installation.package.appending(path: "pipelines").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let others = ["environment.sh", "navigation.sh", "real-head-unit.sh", "secondary.sh", "speech.sh", "web-page.sh"]
    return names.filter { $0.hasSuffix(".sh") && !others.contains($0) }.sorted()
  }()

  @Test func thereAreScripts() {
    #expect(Self.scripts.contains("test-pattern.sh") && Self.scripts.count >= 4, "\(Self.scripts)")
  }

  @Test(arguments: scripts)
  func script(_ name: String) throws {
    let result = try Program.run(
      pipelines.appending(path: name).path, in: folder, environment: ["NUM_BUFFERS": "20"])
    if result.status == 77 {
      #expect(!result.output.isEmpty, "a skipped script says why")
    } else {
      #expect(result.status == 0 && result.output.contains("Registered with"), "\(result)")
    }
  }

  @Test func realHeadUnit() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    let result = try Program.run(
      pipelines.appending(path: "real-head-unit.sh").path, "127.0.0.1:\(headUnit.port)", in: folder,
      environment: ["NUM_BUFFERS": "20"])
    #expect(result.status == 0, "\(result)")
    #expect(headUnit.waitForEnd().status == 0)
  }

  @Test func realHeadUnitWithoutAnAddress() throws {
    let result = try Program.run(pipelines.appending(path: "real-head-unit.sh").path, in: folder)
    #expect(result.status == 2 && result.output.isEmpty, "\(result)")
    #expect(result.errors.hasPrefix("usage: ") && result.errors.contains("real-head-unit.sh HOST[:PORT]"), "\(result)")
  }

  /// What a stranger in the network may try, at both head unit programs and at the sink.
  @Test(arguments: [("sdl-head-unit", 8), ("gst-launch-1.0", 8), ("sdlvideosink", 2)])
  func attacks(program: String, count: Int) throws {
    // Other tests that run meanwhile need the processor as well.
    let script = Installation.package.appending(path: "scripts/attack").path
    let result = try Program.run(
      "/usr/bin/nice", "/usr/bin/python3", script, "--only", program, "--answer-time", "5", "--head-unit",
      Installation.headUnitTool.path, in: folder)
    #expect(result.status == 0, "\(result)")
    #expect(result.output.components(separatedBy: "withstood").count == count + 1, "\(result)")
  }

  /// Also without a file to write to.
  @Test func speech() throws {
    let script = pipelines.appending(path: "speech.sh").path
    let result = try Program.run(script, folder.path("prompt.wav"), in: folder)
    #expect(result.status == 0)
    #expect(try Data(contentsOf: folder.url.appending(path: "prompt.wav")).count > 10_000)
    let misused = try Program.run(script, in: folder)
    #expect(misused.status == 2 && misused.errors.hasPrefix("usage: "), "\(misused)")
  }

  @Test func drive() throws {
    let result = try Program.run(
      "/usr/bin/python3", pipelines.appending(path: "drive.py").path, "--duration", "2", "--source",
      "videotestsrc is-live=true", in: folder)
    #expect(result.status == 0 && result.output.contains("HMI level FULL"), "\(result)")
  }

  @Test func resize() throws {
    let result = try Program.run(
      "/usr/bin/python3", pipelines.appending(path: "resize.py").path, "--head-unit", Installation.headUnitTool.path,
      "--pause", "0.2", in: folder)
    #expect(result.status == 0 && result.output.contains("320×480 to 1280×720"), "\(result)")
  }

  /// The script checks the messages and counters itself.
  @Test func timeline() throws {
    let output = folder.path("timeline.svg")
    let result = try Program.run(
      "/usr/bin/python3", pipelines.appending(path: "timeline").path, "--head-unit", Installation.headUnitTool.path,
      "--output", output, in: folder)
    #expect(result.status == 0, "\(result)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: output)).count > 10_000)
  }

  /// Without a version PyGObject takes the newest that is installed: GTK 4 for a program that is written for GTK 3.
  @Test func pythonNamesTheVersionsOfItsLibraries() throws {
    var count = 0
    for folder in ["pipelines", "scripts", "Tests"] {
      let root = Installation.package.appending(path: folder)
      let paths = try #require(FileManager.default.enumerator(atPath: root.path)).compactMap { $0 as? String }
      for path in paths where path.hasSuffix(".py") || !path.contains(".") {
        guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { continue }
        let imports = text.matches(of: /from gi\.repository import ([A-Za-z, ]+)/)
          .flatMap { $0.1.split(separator: ", ") }
        let named = text.matches(of: /require_version\("([A-Za-z]+)"/).map { $0.1 }
        let unnamed = Set(imports.map { $0.trimmingCharacters(in: .whitespaces) })
          .subtracting(named.map(String.init) + ["GLib", "GObject", "Gio"])
        #expect(unnamed.isEmpty, "\(folder)/\(path): \(unnamed)")
        if !imports.isEmpty { count += 1 }
      }
    }
    #expect(count > 20)
  }

  private static let programs = [
    "drive.py", "embedding/embed.py", "embedding/resizable.py", "encoder.py", "map.py", "preview.py", "resize.py",
    "statistics.py", "timeline/__main__.py", "turn-by-turn.py", "two-apps.py", "vehicle-data.py",
  ]

  @Test(arguments: scripts + programs + ["navigation.sh", "real-head-unit.sh", "web-page.sh"])
  func headOfThreeComments(_ name: String) throws {
    let text = String(decoding: try Data(contentsOf: pipelines.appending(path: name)), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first?.hasPrefix("#!") == true)
    #expect(lines.dropFirst().prefix { $0.hasPrefix("# ") }.count == 3)
  }
}
