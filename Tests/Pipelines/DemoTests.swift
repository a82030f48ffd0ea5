import Foundation
import Testing

/// `make demo`, without what it builds.
@Suite struct DemoTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func demo(_ arguments: String..., environment: [String: String] = [:]) throws -> Program {
    try Program(
      ["/usr/bin/python3", Installation.package.appending(path: "scripts/demo").path, "--folder", folder.path("demo")]
        + arguments, in: folder, environment: environment)
  }

  /// The files that it leaves.
  private func expectFiles(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let picture = try Data(contentsOf: folder.url.appending(path: "demo/head-unit.png"))
    #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]) && picture.count > 5000, sourceLocation: sourceLocation)
    #expect(folder.text("demo/head-unit.log").contains("sdl-stream-started"), sourceLocation: sourceLocation)
    let recording = try Data(contentsOf: folder.url.appending(path: "demo/head-unit.h264"))
    #expect(recording.starts(with: [0, 0, 0, 1]) && recording.count > 50_000, sourceLocation: sourceLocation)
    let sound = try Data(contentsOf: folder.url.appending(path: "demo/head-unit.wav"))
    #expect(sound.starts(with: Data("RIFF".utf8)) && sound.count > 100_000, sourceLocation: sourceLocation)
    #expect(folder.text("demo/head-unit.log").contains("service=(string)audio"), sourceLocation: sourceLocation)
  }

  @Test func withoutADisplay() throws {
    let result = try demo().wait()
    #expect(result.status == 0 && result.output.contains(", 0 broken rules"), "\(result)")
    try expectFiles()
    // Each thing is said once.
    for text in ["Connecting to", "Connected to", "Registering", "connected to", "HMI level FULL", "stream started"] {
      #expect(result.output.components(separatedBy: text).count == 2, "\(text) in \(result)")
    }
    #expect(result.output.contains("Three commands to try next"))
  }

  @Test func saysWhatItWillDo() throws {
    let script = Installation.package.appending(path: "scripts/announce-demo").path
    let plugin = folder.path("plugin.so")
    let first = try Program.run(script, plugin, in: folder)
    #expect(first.status == 0 && first.output.contains("It builds the plugin ("), "\(first)")
    try Data().write(to: URL(fileURLWithPath: plugin))
    let second = try Program.run(script, plugin, in: folder)
    #expect(second.status == 0 && second.output.contains("builds what has changed"), "\(second)")
  }

  @Test func inAWindow() throws {
    let screen = try Screen()
    let demo = try demo(environment: screen.environment)
    // A busy machine takes few pictures of the screen while the demo runs, so any two bars will do. The screen is
    // black.
    let black = Screenshot.Color(red: 0, green: 0, blue: 0)
    let first = try screen.waitFor("bars") { $0[400, 200].isLike(black) ? nil : $0[400, 200] }
    try screen.waitFor("moving bars") { screen in
      let color = screen[400, 200]
      return color.isLike(black) || color.isLike(first) ? nil : true
    }
    let result = demo.wait()
    #expect(result.status == 0 && result.output.contains(", 0 broken rules"), "\(result)")
    try expectFiles()
  }

  /// For about as long as the head unit waits for data: neither end is to blame.
  @Test func onAMachineThatStandsStill() throws {
    let demo = try demo()
    try demo.waitForOutput { $0.contains("stream started") ? true : nil }
    for milliseconds in stride(from: 960.0, through: 1040, by: 20) {
      demo.standStill(seconds: milliseconds / 1000)
      Thread.sleep(forTimeInterval: 0.3)
    }
    let result = demo.wait()
    #expect(result.output.contains(", 0 broken rules"), "\(result)")
    // Sound that is late is left out, which may be all of it.
    #expect(result.status == 0 || result.output.contains("has heard nothing"), "\(result)")
  }

  @Test func failsIfARuleIsBroken() throws {
    let result = try demo(
      "--source",
      "videotestsrc is-live=true pattern=black ! video/x-raw,width=800,height=480,framerate=90/1 ! "
        + "x264enc tune=zerolatency speed-preset=ultrafast ! video/x-h264,profile=constrained-baseline ! h264parse"
    ).wait()
    #expect(result.status != 0, "\(result)")
    #expect(folder.text("demo/head-unit.log").contains("rule=(string)frame-rate"))
  }

  @Test func failsIfTheAppDoes() throws {
    let result = try demo("--source", "no-such-element").wait()
    #expect(result.status != 0 && result.errors.contains("went wrong"), "\(result)")
  }
}
