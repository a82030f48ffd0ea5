import Foundation
import Testing

/// Options of `sdl-head-unit` that change the car.
@Suite struct HeadUnitOptionTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// One of the programs beside the tests, as an app.
  private func app(_ name: String, _ arguments: String...) -> [String] {
    ["--", "/usr/bin/python3", Installation.package.appending(path: "Tests/Pipelines/Programs/\(name)").path]
      + arguments
  }

  private func run(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> Program.Result {
    try Program([Installation.headUnitTool.path, "--port", "0"] + arguments, in: folder)
      .wait(sourceLocation: sourceLocation)
  }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: folder.url.appending(path: name))
    return folder.path(name)
  }

  /// What a script expects of an app, and of the answers to it.
  @Test(arguments: [
    (
      ["--make", "Ford", "--model", "T"],
      "expect RegisterAppInterface/response vehicleType.make=Ford vehicleType.model=T"
    ),
    (
      ["--pcm", "8KHZ/8_BIT"],
      "expect RegisterAppInterface/response pcmStreamCapabilities.samplingRate=8KHZ "
        + "pcmStreamCapabilities.bitsPerSample=8_BIT"
    ),
    (["--pcm", "none"], "never RegisterAppInterface/response pcmStreamCapabilities~. for 0.5"),
    (
      ["--screen", "1024x600"],
      "expect RegisterAppInterface/response displayCapabilities.screenParams.resolution.resolutionWidth=1024"
    ),
    (["--no-activation"], "expect registered\nthen: never hmi-full for 0.5"),
  ])
  func registration(options: [String], step: String) throws {
    let script = try file("test.sdl", Array("then: \(step)\nthen: expect unregistered\n".utf8))
    let result = try run(["--test", script] + options + app("show.py", "unregisters"))
    #expect(result.status == 0, "\(result)")
  }

  /// It listens there only, which its program is told. Others may have the same port at 127.0.0.1.
  @Test func address() throws {
    let stream = "exec gst-launch-1.0 -q videotestsrc num-buffers=10 ! sdlvideosink sync=false uri=$SDL_URI"
    let script = "echo $SDL_URI; (exec 3<>/dev/tcp/127.0.0.3/$SDL_PORT) && exit 1; \(stream)"
    let result = try run(["--address", "127.0.0.2", "--", "bash", "-c", script])
    #expect(result.status == 0 && result.output.contains("program: sdl://127.0.0.2:"), "\(result)")
    #expect(!result.output.contains("pictures=0"), "\(result)")
  }

  @Test(arguments: [("same", "refused"), ("any", "accepted")])
  func secondaryFrom(origin: String, answer: String) throws {
    let result = try run(["--secondary-transport", "0", "--secondary-from", origin] + app("secondary.py"))
    #expect(result.output.contains("program: \(answer)\n"), "\(result)")
  }

  /// Which end begins the handshake, and with what.
  @Test(arguments: [("--tls-server", "tls-role=client", " TLSv1.2"), ("--dtls", "", " DTLSv1.2")])
  func handshake(option: String, role: String, version: String) throws {
    let make = Installation.package.appending(path: "scripts/make-certificates").path
    #expect(try Program.run(make, folder.path("keys"), "test-1", in: folder).status == 0)
    func keys(_ name: String) -> [(String, String)] {
      [
        ("certificate", folder.path("keys/\(name).pem")), ("private-key", folder.path("keys/\(name)-key.pem")),
        ("ca-certificates", folder.path("keys/authority.pem")),
      ]
    }
    let stream =
      "gst-launch-1.0 -q videotestsrc num-buffers=10 ! sdlvideosink sync=false app-id=test-1 \(role) "
      + "encryption=authenticate-and-encrypt uri=$SDL_URI "
      + keys("app").map { "\($0.0)=\($0.1)" }.joined(separator: " ")
    let result = try run(
      ["--encryption", "require", option] + keys("head-unit").flatMap { ["--\($0.0)", $0.1] }
        + ["--", "sh", "-c", stream])
    #expect(result.status == 0 && result.output.contains(version), "\(result)")
  }

  /// A second of the same sample, of 16 bits at 16 kHz.
  @Test func microphone() throws {
    func bytes(_ value: UInt32, _ count: Int = 4) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
    let format = bytes(1, 2) + bytes(1, 2) + bytes(16_000) + bytes(32_000) + bytes(2, 2) + bytes(16, 2)
    let sound = [[UInt8]](repeating: bytes(7777, 2), count: 16_000).flatMap(\.self)
    let header = Array("WAVEfmt ".utf8) + bytes(16) + format + Array("data".utf8) + bytes(32_000)
    let path = try file("microphone.wav", Array("RIFF".utf8) + bytes(32_036) + header + sound)
    let result = try run(["--microphone", path] + app("show.py", "listens"))
    #expect(result.output.contains("program: heard 7777\n"), "\(result)")
    let none = try run(["--microphone", file("no.wav", [1, 2, 3])])
    #expect(none.status == 2 && none.errors.contains("is no WAV file"), "\(none)")
  }

  /// The log has a line for each message of video, where it otherwise has one a second.
  @Test(arguments: [[], ["--log-media"]])
  func logOfMedia(options: [String]) throws {
    let stream = "exec gst-launch-1.0 -q videotestsrc num-buffers=10 ! sdlvideosink sync=false uri=$SDL_URI"
    let result = try run(["--log", folder.path("run.jsonl")] + options + ["--", "sh", "-c", stream])
    #expect(result.status == 0, "\(result)")
    let count = folder.text("run.jsonl").ranges(of: #""kind":"media""#).count
    let messages = try #require(result.output.firstMatch(of: /messages=(\d+)/).flatMap { Int($0.1) })
    #expect(options.isEmpty ? count > 0 && count < messages : count == messages, "\(count) of \(result)")
  }

  /// Where elements look for a head unit of this machine. Another program may have the port.
  @Test func usualPort() throws {
    let result = try Program([Installation.headUnitTool.path, "--wait-app", "0.1"], in: folder).wait()
    #expect(result.output.contains("listening 12345\n") || result.errors.contains("127.0.0.1:12345"), "\(result)")
  }

  @Test func version() throws {
    let result = try run(["--version"])
    #expect(result.status == 0 && result.output.firstMatch(of: /^sdl-head-unit \d+\.\d+\.\d+.*\n$/) != nil, "\(result)")
  }

  @Test(arguments: [
    (["--port"], "--port needs a value"), (["--port", "65536"], "--port does not take \"65536\""),
    (["--screen", "800"], "--screen does not take"), (["--unknown"], "unknown option --unknown"),
    (["--announce"], "--announce is for a head unit that the network reaches: give --address '*'"),
    (["--rpc-encryption"], "--rpc-encryption needs --encryption accept or require"),
    (["--dtls"], "--tls-server and --dtls need --encryption accept or require"),
    (["--encryption", "require", "--certificate", "/nonexistent.pem"], "/nonexistent.pem"),
    (["--log", "-", "--blank", "--log-files", "/tmp"], "--blank and --log-files contradict each other"),
    (["--test", "/dev/null"], "/dev/null can't be read: it is no regular file"),
    (["--websocket-tls"], "--websocket-origin and --websocket-tls need --websocket"),
    (["--websocket", "0", "--websocket-tls"], "--websocket-tls needs --certificate and --private-key"),
    (["--auth-token", "a"], "--auth-token needs --cloud-app"),
    (["--cloud-app", "http://a:1"], "--cloud-app does not take"),
    (["--cloud-app", "ws://a"], "--cloud-app does not take"), (["--app-exits=0"], "--app-exits does not take \"0\""),
    (["--cloud-app", "ws://a:0"], "--cloud-app does not take"),
    (["--cloud-app", "ws://a:1/ü"], "--cloud-app does not take"),
    (["--websocket-origin", "*"], "--websocket-origin and --websocket-tls need --websocket"),
    (["--tls-server"], "--tls-server and --dtls need --encryption accept or require"),
    (
      ["--tls-server", "--encryption", "accept", "--certificate", "/a"],
      "--tls-server needs --certificate and --private-key"
    ),
    (
      ["--tls-server", "--encryption", "accept", "--private-key", "/a"],
      "--tls-server needs --certificate and --private-key"
    ),
    (["--log-files", "/tmp"], "need --log"), (["--blank"], "need --log"),
    (["--deadline", "86401"], "--deadline does not take"), (["--deadline", "86400"], "--deadline needs --app-exits"),
    (["--wait-app", "-1"], "--wait-app does not take"), (["--replay-speed", "0.1"], "--replay-speed needs --replay"),
    (["--replay-speed", "10"], "--replay-speed needs --replay"),
    (["--replay-speed", "10.1"], "--replay-speed does not take"),
    (["--replay-speed", "0.09"], "--replay-speed does not take"),
    (["--secondary-transport", "65536"], "--secondary-transport does not take"),
    (["--pcm", "48KHZ/16_BIT"], "--pcm does not take"),
  ])
  func refused(options: [String], text: String) throws {
    let result = try run(options)
    #expect(result.status == 2 && result.errors.contains(text), "\(result)")
    #expect(result.errors.contains("Try sdl-head-unit --help"), "\(result)")
  }

  /// What is written must be none of the files that are read, whatever its name.
  @Test(arguments: ["--log", "--junit", "--record", "--record-audio"])
  func outputThatIsRead(option: String) throws {
    let script = try file("a.sdl", Array("then: expect registered\n".utf8))
    let link = folder.path("link")
    try FileManager.default.linkItem(atPath: script, toPath: link)
    for output in [script, link] {
      let result = try run(["--test", script, option, output])
      #expect(result.status == 2 && result.errors.contains("\(output) would be overwritten, and is read"), "\(result)")
    }
    #expect(folder.text("a.sdl") == "then: expect registered\n")
  }

  @Test(arguments: ["--certificate", "--private-key", "--ca-certificates", "--policy", "--script"])
  func inputThatIsWritten(option: String) throws {
    let table = #"{"policy_table": {"functional_groupings": {}, "app_policies": {"default": {"groups": []}}}}"#
    let path = try file("input", Array((option == "--policy" ? table : "at 1: cut\n").utf8))
    let result = try run([option, path, "--log", path])
    #expect(result.status == 2 && result.errors.contains("\(path) would be overwritten, and is read"), "\(result)")
  }

  /// Only what matters to a test is printed.
  @Test func quiet() throws {
    let steps = "then: expect registered\nthen: expect Show mainField1=Bye within 0.2\n"
    let result = try run(["--quiet", "--test", file("test.sdl", Array(steps.utf8))] + app("show.py", "stays"))
    #expect(result.status == 3 && result.output.contains("line 2: expect Show mainField1=Bye within 0.2: failed"))
    #expect(result.output.hasPrefix("listening ") && result.output.contains("\nsummary "), "\(result)")
    for text in ["registered \"Map\"", "met after", "program: "] { #expect(!result.output.contains(text), "\(result)") }
  }

  /// A script that expects nothing would be a test that never ends.
  @Test func testWithoutExpectations() throws {
    let result = try run(["--test", file("test.sdl", Array("at 1: cut\n".utf8))])
    #expect(result.status == 2 && result.errors.contains("has no expectations: use --script for it"), "\(result)")
  }

  @Test func groupsOfOwnPolicies() throws {
    let table = #"{"policy_table": {"functional_groupings": {}, "app_policies": {"default": {"groups": []}}}}"#
    let result = try run(["--policy", file("policy.json", Array(table.utf8)), "--grant", "Location-1"])
    #expect(result.status == 2 && result.errors.contains("--grant is for the groups of SDL Core"), "\(result)")
  }
}
