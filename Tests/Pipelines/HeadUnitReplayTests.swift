import Foundation
import Testing

/// `sdl-head-unit --replay`: a recorded head unit, at the same app and at another one.
@Suite struct HeadUnitReplayTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ options: [String], _ program: [String]) throws -> Program.Result {
    try Program([Installation.headUnitTool.path, "--port", "0"] + options + ["--"] + program, in: folder).wait()
  }

  private func show(_ end: String) -> [String] {
    ["/usr/bin/python3", Installation.package.appending(path: "Tests/Pipelines/Programs/show.py").path, end]
  }

  /// For much longer than the driver needs: a busy machine may start it late.
  private static func stream(count: Int) -> [String] {
    [
      "sh", "-c",
      "exec gst-launch-1.0 -q videotestsrc num-buffers=\(count) is-live=true ! sdlvideosink uri=$SDL_URI",
    ]
  }

  /// The text is refused, as it was; an app that sends a file as well is another one.
  @Test func anAppOfTexts() throws {
    try Data("on registered: answer Show rejected {\"info\": \"not now\"}".utf8).write(
      to: folder.url.appending(path: "script"))
    let recorded = try run(
      ["--make", "Rover", "--script", folder.path("script"), "--log", folder.path("drive.jsonl")], show("unregisters"))
    #expect(recorded.status == 0, "\(recorded)")
    let replay = ["--replay", folder.path("drive.jsonl"), "--junit", folder.path("out.xml")]
    let same = try run(replay, show("unregisters"))
    #expect(same.status == 0 && same.output.contains("refused: REJECTED, not now"), "\(same)")
    #expect(same.output.contains("expectations=1 failed=0") && same.output.contains("replay of "), "\(same)")
    let other = try run(replay + ["--replay-speed", "2"], show("sends-a-file"))
    #expect(other.status == 3, "\(other)")
    #expect(other.output.contains("replay: PutFile: failed, the recorded app did not send it here"), "\(other)")
    #expect(try String(contentsOf: folder.url.appending(path: "out.xml"), encoding: .utf8).contains("PutFile"))
    // A program that does nothing is not waited for, and the recording stays.
    let none = try run(["--replay", folder.path("drive.jsonl")], ["true"])
    #expect(none.status == 3 && none.output.contains("StartService(rpc) (line "), "\(none)")
    let itself = try run(["--replay", folder.path("drive.jsonl"), "--log", folder.path("drive.jsonl")], ["true"])
    #expect(itself.status == 2 && itself.errors.contains("drive.jsonl would be overwritten"), "\(itself)")
    let table = #"{"policy_table": {"functional_groupings": {}, "app_policies": {"default": {"groups": []}}}}"#
    try Data(table.utf8).write(to: folder.url.appending(path: "policy.json"))
    let contraries = [
      ["--screen", "320x240"], ["--make", "Ford"], ["--model", "T"], ["--pcm", "none"], ["--grant", "Base-4"],
      ["--policy", folder.path("policy.json")],
    ]
    for contrary in contraries {
      let result = try run(["--replay", folder.path("drive.jsonl")] + contrary, ["true"])
      #expect(result.status == 2 && result.errors.contains("are what the recording of --replay says"), "\(result)")
    }
    try Data("{}\n".utf8).write(to: folder.url.appending(path: "empty"))
    let empty = try run(["--replay", folder.path("empty")], ["true"])
    #expect(empty.status == 2 && empty.errors.contains("can't be replayed: it has no RegisterAppInterface"), "\(empty)")
  }

  /// Video, a touch and a level of the driver, again at the sink; an app without video is another one.
  @Test func aDriveWithVideo() throws {
    let script = """
      on registered after 0.6: touch tap 10 20
      on registered after 0.9: level background
      on registered after 1.2: level full
      """
    try Data(script.utf8).write(to: folder.url.appending(path: "script"))
    let recorded = try run(
      ["--screen", "640x360", "--script", folder.path("script"), "--log", folder.path("drive.jsonl")],
      Self.stream(count: 150))
    #expect(recorded.status == 0, "\(recorded)")
    let replay = ["--replay", folder.path("drive.jsonl")]
    let same = try run(replay + ["--log", folder.path("again.jsonl")], Self.stream(count: 150))
    #expect(same.status == 0, "\(same)")
    let check = """
      import json, sys
      def notifications(path):
        lines = [json.loads(line) for line in open(path, encoding="utf-8")]
        sent = [line for line in lines if line.get("dir") == "hu→app" and line.get("type") == "notification"]
        touches = [line["params"]["type"] for line in sent if line["function"] == "OnTouchEvent"]
        levels = [line["params"]["hmiLevel"] for line in sent if line["function"] == "OnHMIStatus"]
        starts = [line["params"] for line in lines if line["kind"] == "frame" and line["type"] == "StartService"]
        # With the last one the head unit answers an app that goes, unless that has gone before.
        return touches, levels[:4], [(start.get("width"), start.get("height")) for start in starts]
      recorded, again = notifications(sys.argv[1]), notifications(sys.argv[2])
      assert recorded == again, (recorded, again)
      assert recorded[0] == ["BEGIN", "END"] and recorded[1] == ["NONE", "FULL", "BACKGROUND", "FULL"], recorded
      assert recorded[2][1] == (640, 360), recorded
      print("ok")
      """
    let checked = try Program(
      ["/usr/bin/python3", "-c", check, folder.path("drive.jsonl"), folder.path("again.jsonl")], in: folder
    ).wait()
    #expect(checked.output == "ok\n", "\(checked)")
    let other = try run(replay + ["--deadline", "3"], show("stays"))
    #expect(other.status == 3 && other.output.contains("StartService(video)"), "\(other)")
  }

  /// What the sink has recorded in front of a car, whose connection broke once.
  @Test func aDriveThatTheSinkHasRecorded() throws {
    let script =
      "on registered 1 after 0.5: level background\non registered 1 after 0.8: level full\n"
      + "on registered 1 after 1.2: cut"
    try Data(script.utf8).write(to: folder.url.appending(path: "script"))
    var stream = Self.stream(count: 150)
    let plain = stream
    stream[2] += " conversation-log=\(folder.path("drive.jsonl"))"
    let recorded = try run(["--screen", "640x360", "--script", folder.path("script")], stream)
    #expect(recorded.status == 0, "\(recorded)")
    let same = try run(["--replay", folder.path("drive.jsonl")], plain)
    #expect(same.status == 0 && same.output.contains("replay of "), "\(same)")
    #expect(
      same.output.components(separatedBy: " registered \"").count == 3 && same.output.contains("HMI status BACKGROUND"),
      "\(same)")
  }

  @Test(arguments: [
    (["--replay", "/dev/null"], "it is no regular file"),
    (["--replay", "/nonexistent"], "/nonexistent can't be read"),
    (["--replay-speed", "2"], "--replay-speed needs --replay"), (["--replay-speed", "0"], "does not take"),
  ])
  func invalidOptions(options: [String], text: String) throws {
    let result = try run(options, ["true"])
    #expect(result.status == 2 && result.errors.contains(text), "\(result)")
  }
}
