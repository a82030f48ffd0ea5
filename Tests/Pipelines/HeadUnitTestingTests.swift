import Foundation
import Testing

/// `sdl-head-unit` as an instrument: tests, their reports, and the log.
@Suite struct HeadUnitTestingTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// An app that shows a text, and then ends as `end` says.
  private func program(_ end: String = "unregisters") -> [String] {
    ["--", "/usr/bin/python3", Installation.package.appending(path: "Tests/Pipelines/Programs/show.py").path, end]
  }

  private func run(
    _ script: String?, _ options: [String], environment: [String: String] = [:]
  ) throws -> Program.Result {
    var arguments = [Installation.headUnitTool.path, "--port", "0"]
    if let script {
      try Data(script.utf8).write(to: folder.url.appending(path: "test.sdl"))
      arguments += ["--test", folder.path("test.sdl"), "--junit", folder.path("out.xml")]
    }
    return try Program(arguments + options, in: folder, environment: environment).wait()
  }

  /// The table of exit statuses in docs/testing-without-a-car.md, for tests and programs.
  @Test(
    arguments: [
      (
        "then: expect Show mainField1=\"Hello SDL!\"\nthen: press soft-button 7\nthen: expect OnButtonPress",
        "unregisters",
        0
      ),
      ("then: expect Show mainField1=Bye within 1", "unregisters", 3),
      ("then: expect registered\nthen: fail always", "stays", 3),
      ("then: expect registered\nthen: expect disconnected", "vanishes", 5),
      ("then: expect Show\nthen: never unregistered for 0.2", "stays", 0),
      ("then: expect Show\nthen: quit\nthen: expect Alert", "stays", 3),
      ("on Show: cut", "stays", 2), ("at 0: cut", "stays", 2),
      (nil, "fails", 7), (nil, "unregisters", 0), (nil, "vanishes", 5),
    ] as [(String?, String, Int32)])
  func exitStatus(script: String?, end: String, status: Int32) throws {
    let result = try run(script, program(end))
    #expect(result.status == status, "\(result)")
  }

  /// A failure names what came instead, in the log and in the report; a report of strange texts is XML all the same.
  @Test func report() throws {
    let result = try run(
      "then: expect registered\nthen: expect Show mainField1=\"<&>\" within 1\nthen: expect Alert", program("shows-odd")
    )
    #expect(result.status == 3)
    let failure = "failed, not within 1 s; Show came once, but mainField1 was"
    #expect(result.output.contains("line 2: expect Show mainField1=\"<&>\" within 1: \(failure)"), "\(result)")
    #expect(result.output.contains("expectations=2 failed=1"), "\(result)")
    let check = """
      import sys, xml.dom.minidom
      suite = xml.dom.minidom.parse(sys.argv[1]).documentElement
      cases = suite.getElementsByTagName("testcase")
      print(suite.getAttribute("tests"), suite.getAttribute("failures"), len(cases))
      failure = cases[1].getElementsByTagName("failure")[0]
      print("mainField1 was" in failure.getAttribute("message"), "Show" in failure.firstChild.data)
      """
    let checked = try Program(["/usr/bin/python3", "-c", check, folder.path("out.xml")], in: folder).wait()
    #expect(checked.output == "2 1 2\nTrue True\n", "\(checked)")
  }

  /// Every line is JSON, in order; members and files are whole, and the program's output is there.
  @Test func log() throws {
    let result = try run(
      "then: expect PutFile\nthen: expect unregistered",
      ["--log", folder.path("run.jsonl"), "--log-files", folder.path("files")] + program("sends-a-file"))
    #expect(result.status == 0, "\(result)")
    let check = """
      import hashlib, json, sys
      lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
      assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
      assert all(a["t"] <= b["t"] for a, b in zip(lines, lines[1:]))
      kinds = {line["kind"] for line in lines}
      assert kinds >= {"state", "frame", "rpc", "event", "expect", "output"}, kinds
      put = next(line for line in lines if line.get("function") == "PutFile" and line["type"] == "request")
      data = bytes(range(256)) * 400
      assert put["dir"] == "app→hu" and put["app"] == "Map" and put["params"]["syncFileName"] == "a.bin", put
      assert put["bulk"]["bytes"] == len(data) and put["bulk"]["sha256"] == hashlib.sha256(data).hexdigest(), put["bulk"]
      assert open(put["bulk"]["file"], "rb").read() == data
      show = next(line for line in lines if line.get("function") == "Show" and line["type"] == "request")
      assert len(show["params"]["mainField2"]) == 400
      answer = next(line for line in lines if line.get("correlationID") == show["correlationID"] and line["dir"] == "hu→app")
      assert answer["type"] == "response" and answer["result"] == "SUCCESS", answer
      assert any(line["kind"] == "output" and line["text"] == "SUCCESS" for line in lines)
      assert [line["result"] for line in lines if line["kind"] == "expect"] == ["met", "met"]
      assert lines[0]["type"] == "listening" and lines[-1]["type"] == "summary" and lines[-1]["status"] == 0
      print("ok")
      """
    let checked = try Program(["/usr/bin/python3", "-c", check, folder.path("run.jsonl")], in: folder).wait()
    #expect(checked.output == "ok\n", "\(checked)")
  }

  @Test func grantedGroup() throws {
    let result = try run(
      "then: expect OnPermissionsChange permissionItem~SendHapticData",
      ["--preset", "core", "--grant", "HapticGroup"] + program())
    #expect(result.status == 0, "\(result)")
  }

  /// The tester's own policies, and what is changed while the app runs.
  @Test func policies() throws {
    let table = """
      {"policy_table": {
        "functional_groupings": {"All": {"rpcs": {
          "Show": {"hmi_levels": ["FULL"]}, "OnHMIStatus": {"hmi_levels": ["FULL", "NONE"]}}}},
        "app_policies": {"default": {"groups": ["All"]}, "7": null}}}
      """
    try Data(table.utf8).write(to: folder.url.appending(path: "policy.json"))
    let options = ["--policy", folder.path("policy.json")]
    let script = """
      then: expect SubscribeButton/response resultCode=DISALLOWED
      then: expect Show/response resultCode=SUCCESS
      then: permit UnregisterAppInterface
      then: expect OnPermissionsChange
      """
    let result = try run(script, options + program())
    #expect(result.status == 0, "\(result)")
    let revoked = try run(
      "then: expect RegisterAppInterface/response resultCode=DISALLOWED", options + program() + ["Map", "7"])
    #expect(revoked.status == 0, "\(revoked)")
    let unknown = try run("then: expect registered\nat 1: grant Base-4", options)
    #expect(unknown.status == 2 && unknown.errors.contains("line 2: the policies have no group"), "\(unknown)")
    let malformed = try run(nil, ["--policy", folder.path("test.sdl")])
    #expect(
      malformed.status == 2 && malformed.errors.contains("is no policy table: it is no JSON from byte"), "\(malformed)")
  }

  /// A log that may be shown to others.
  @Test func blankLog() throws {
    let result = try run(nil, ["--log", folder.path("run.jsonl"), "--blank"] + program())
    #expect(result.status == 0, "\(result)")
    let text = try String(contentsOfFile: folder.path("run.jsonl"), encoding: .utf8)
    #expect(text.contains(#""appName":"name-1""#) && text.contains(#""app":"name-1""#), "\(text)")
    #expect(!text.contains(#""Map""#) && !text.contains(#""Map\""#) && text.contains("Hello SDL!"), "\(text)")
  }

  /// What an app shows is readable in the text log, too.
  @Test func textLog() throws {
    let result = try run(nil, program("unregisters"))
    #expect(result.output.contains("1 Show \"Hello SDL!\""), "\(result)")
    #expect(result.output.contains("| soft buttons: ROCK"), "\(result)")
    #expect(result.output.contains("program: SUCCESS") && result.output.contains(" program=0\n"), "\(result)")
  }

  /// A pipe gets all of the video and the sound, although its reader takes its time after the end.
  @Test(arguments: [
    ("--record", "videotestsrc pattern=snow num-buffers=60 ! sdlvideosink sync=false", 0),
    (
      "--record-audio",
      "audiotestsrc num-buffers=600 samplesperbuffer=1600 ! audio/x-raw,rate=16000 ! sdlaudiosink sync=false", 44
    ),
  ])
  func recordingForASlowReader(option: String, stream: String, headerCount: Int) throws {
    let pipe = folder.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let script = Installation.package.appending(path: "Tests/Pipelines/Programs/slow-reader.py").path
    let reader = try Program(["/usr/bin/python3", script, pipe], in: folder)
    let result = try run(
      nil,
      [
        option, pipe, "--no-checks", "--log", folder.path("run.jsonl"), "--", "sh", "-c",
        "exec gst-launch-1.0 -q \(stream) uri=$SDL_URI",
      ])
    #expect(result.status == 0, "\(result)")
    let log = try String(contentsOfFile: folder.path("run.jsonl"), encoding: .utf8)
    let counts = log.matches(of: /"bytes":(\d+),"kind":"media"/).compactMap { Int($0.1) }
    let count = try #require(Int(reader.wait().output.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(count == counts.reduce(headerCount, +) && count > 200_000, "\(counts)")
  }

  /// The program, and what it has started, ends with the head unit; its variables name the head unit.
  @Test func programEndsWithTheHeadUnit() throws {
    let script = "echo $SDL_URI $SDL_PORT; trap '' TERM; sleep 1000 & echo child $!; wait; wait"
    let result = try run(nil, ["--deadline", "0.5", "--", "sh", "-c", script])
    #expect(result.status == 6, "\(result)")
    let port = try #require(result.output.firstMatch(of: /listening (\d+)/)?.1)
    #expect(result.output.contains("program: sdl://127.0.0.1:\(port) \(port)\n"), "\(result)")
    let child = try #require(result.output.firstMatch(of: /child (\d+)/).flatMap { Int32($0.1) })
    // Nobody may have collected it.
    let state = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
    #expect(state?.contains(") Z ") ?? true, "\(state ?? "")")
  }

  /// What is typed are commands for the head unit.
  @Test func programHasNoInput() throws {
    let words = ["--port", "0", "--", "sh", "-c", "readlink /proc/self/fd/0"]
    let result = try Program([Installation.headUnitTool.path] + words, in: folder, input: Pipe()).wait()
    #expect(result.output.contains("program: /dev/null\n"), "\(result)")
  }

  /// Typed, too; the log may be the standard output, which then has nothing else.
  @Test func typedWithTheLogAsOutput() throws {
    let input = Pipe()
    let program = try Program(
      [Installation.headUnitTool.path, "--port", "0", "--commands", "--log", "-"] + program("stays"), in: folder,
      input: input)
    input.fileHandleForWriting.write(Data("expect Show within 20\nlvel\nhelp\nnever violation for 0.1\n".utf8))
    try program.waitForOutput { text in
      text.split(separator: "\n").count { $0.contains(#""kind":"expect""#) } == 2 ? true : nil
    }
    input.fileHandleForWriting.write(Data("quit\n".utf8))
    let result = program.wait()
    #expect(result.status == 0, "\(result)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    #expect(lines.contains { $0.contains(#""type":"help""#) && $0.contains("expect EVENT") })
    #expect(lines.contains { $0.contains("unknown command \\\"lvel\\\"") && $0.contains(#""result":"failed""#) })
  }

  /// What the app shows, as a file, and compared with one: the same picture, another one, and one of another size.
  @Test func pictures() throws {
    let stream = [
      "--", "sh", "-c", "exec gst-launch-1.0 -q videotestsrc pattern=smpte75 is-live=true ! sdlvideosink uri=$SDL_URI",
    ]
    func picture(_ pattern: String, _ width: Int) throws {
      let file = folder.path("\(pattern)-\(width).png")
      let caps = "video/x-raw,width=\(width),height=480"
      let made = try Program.run(
        "gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "pattern=\(pattern)", "!", caps, "!", "pngenc", "!",
        "filesink", "location=\(file)", in: folder)
      #expect(made.status == 0, "\(made)")
    }
    try picture("smpte75", 800)
    try picture("smpte75", 640)
    try picture("ball", 800)
    let result = try run(
      """
      then: expect frame number=10 within 30
      then: screenshot "\(folder.path("shot.png"))"
      then: expect picture \(folder.path("smpte75-800.png")) psnr 30
      then: expect picture \(folder.path("shot.png")) psnr 35
      on frame 12: expect picture \(folder.path("ball-800.png")) within 0.1
      on frame 12: expect picture \(folder.path("smpte75-640.png")) within 0.1
      on frame 12: screenshot /nonexistent/a.png
      """, stream)
    #expect(result.status == 3, "\(result)")
    #expect(result.output.matches(of: /: met after/).count == 4, "\(result)")
    #expect(result.output.contains("ball-800.png within 0.1: failed, the PSNR is "), "\(result)")
    #expect(result.output.contains("the app shows 800×480 pixels, and the picture has another size"), "\(result)")
    #expect(result.output.contains("/nonexistent/a.png can't be written"), "\(result)")
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47]
    #expect(try Data(contentsOf: folder.url.appending(path: "shot.png")).starts(with: signature))
    // The report has what was shown when an expectation failed.
    let report = try String(contentsOf: folder.url.appending(path: "out.xml"), encoding: .utf8)
    let attached = report.matches(of: /\[\[ATTACHMENT\|(.+?)\]\]/).map { String($0.1) }
    #expect(attached.count == 3, "\(report)")
    for path in attached { #expect(try Data(contentsOf: URL(filePath: path)).starts(with: signature)) }
  }

  /// Of many failures the first fifty have the end of the log, and the first ten of these what was shown.
  @Test func reportOfManyFailures() throws {
    // In place of a decoder, which takes its time: a picture of 800×480 pixels in each file.
    let script = """
      #!/bin/sh
      for word; do case $word in location=*) file=${word#location=};; esac; done
      head -c 576000 /dev/zero >"$file"

      """
    try folder.makeProgram("gst-launch-1.0", script)
    let steps = Array(repeating: "on frame 5: fail for a reason", count: 60) + ["on frame 5: quit"]
    let stream = "exec /usr/bin/gst-launch-1.0 -q videotestsrc is-live=true ! sdlvideosink uri=$SDL_URI"
    try Data(steps.joined(separator: "\n").utf8).write(to: folder.url.appending(path: "many.sdl"))
    let result = try run(
      nil,
      ["--script", folder.path("many.sdl"), "--junit", folder.path("out.xml"), "--", "sh", "-c", stream],
      environment: ["PATH": "\(folder.url.path):/usr/bin:/bin"])
    #expect(result.status == 3 && result.output.contains("expectations=60 failed=60"), "\(result)")
    let report = folder.text("out.xml")
    let failures = report.matches(of: /<failure message=".*?reason.*?">(.*?)<\/failure>/).map { String($0.1) }
    #expect(failures.count == 60 && failures.prefix(50).allSatisfy { !$0.isEmpty }, "\(report)")
    #expect(failures.dropFirst(50).joined() == "", "\(report)")
    // With the failure itself as the last of twenty lines.
    let lines = try #require(failures.dropFirst(49).first).components(separatedBy: "&#10;")
    #expect(lines.count == 20 && lines.last?.contains("line 50: fail") == true, "\(lines)")
    let attached = report.matches(of: /\[\[ATTACHMENT\|(.+?)\]\]/).map { String($0.1) }
    #expect(attached == (1...10).map { folder.path("out-\($0).png") }, "\(report)")
    #expect(attached.allSatisfy { FileManager.default.fileExists(atPath: $0) })
  }

  @Test func noPicture() throws {
    let result = try run("then: expect registered\nthen: expect picture a.png within 0.1", program("stays"))
    #expect(result.status == 3 && result.output.contains("no app shows a picture that can be decoded"), "\(result)")
    let homeless = try run(
      "then: expect registered\nthen: expect picture a.png within 0.1", program("stays"),
      environment: ["TMPDIR": "/nonexistent"])
    #expect(homeless.status == 3 && homeless.output.contains("no folder can be made for pictures"), "\(homeless)")
  }

  /// Pictures take their time: so many wait for theirs, and the next ones are told to come later.
  @Test func manyScreenshots() throws {
    let go = folder.path("go")
    let wait = "#!/bin/sh\nwhile [ ! -e \(go) ]; do sleep 0.05; done\nexec /usr/bin/gst-launch-1.0 \"$@\"\n"
    try folder.makeProgram("gst-launch-1.0", wait)
    let check = """
      import http.client, subprocess, sys, threading, time
      stream = "exec /usr/bin/gst-launch-1.0 -q videotestsrc is-live=true ! sdlvideosink uri=$SDL_URI"
      car = subprocess.Popen(
          [sys.argv[1], "--port", "0", "--control", "0", "--control-token", "t", "--", "sh", "-c", stream],
          stdout=subprocess.PIPE, text=True)
      port = next(line for line in car.stdout if line.startswith("control ")).split()[1].split(":")[1]
      threading.Thread(target=car.stdout.read, daemon=True).start()
      def ask(method, path, body=None):
          connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=100)
          connection.request(method, path, body, {"Authorization": "Bearer t"})
          return connection.getresponse().status
      assert ask("POST", "/expect", "frame number=5 within 60") == 200
      answers = []
      threads = [threading.Thread(target=lambda: answers.append(ask("GET", "/screenshot.png"))) for _ in range(10)]
      for thread in threads: thread.start()
      while len(answers) < 2: time.sleep(0.05)
      assert answers == [503, 503], answers
      open(sys.argv[2], "w").close()
      for thread in threads: thread.join()
      assert answers[2:] == [200] * 8 and ask("GET", "/screenshot.png") == 200, answers
      car.terminate()
      car.wait(20)
      print("ok")
      """
    let result = try Program(
      ["/usr/bin/python3", "-c", check, Installation.headUnitTool.path, go], in: folder,
      environment: ["PATH": "\(folder.url.path):/usr/bin:/bin"]
    ).wait()
    #expect(result.output == "ok\n", "\(result)")
  }

  /// Other programs ask and command over real HTTP, with the token and without, from another page, many at once.
  @Test func control() throws {
    let program = Installation.package.appending(path: "Tests/Pipelines/Programs/control.py").path
    let show = Installation.package.appending(path: "Tests/Pipelines/Programs/show.py").path
    let result = try Program(
      [
        "sh", "-c", "ulimit -n 4096; exec /usr/bin/python3 \"$@\"", "sh", program, Installation.headUnitTool.path, show,
      ],
      in: folder
    ).wait()
    #expect(result.status == 0 && result.output.hasSuffix("ok\n"), "\(result)")
  }

  @Test(arguments: [
    (["--control", "x"], "--control does not take"), (["--control-token", "a"], "--control-token needs --control"),
    (["--control", "0", "--log", "-"], "needs --control-token"),
    (["--web", "0", "--control-token", ""], "--control-token does not take"),
    (["--web", "0", "--control-token", "schlüssel"], "--control-token does not take"),
    (["--web", "0", "--control-token", "a "], "--control-token does not take"),
    (["--web", "0", "--log", "-"], "needs --control-token"),
    (["--websocket", "0", "--websocket-origin", "https://a.example/"], "--websocket-origin does not take"),
    (["--web", "a:b"], "--web does not take"), (["--web", "192.0.2.1:0"], "cannot listen on 192.0.2.1:0"),
    (["--control", "does-not-exist.invalid:0"], "cannot resolve the host name"),
    (["--script", "/dev/null", "--test", "b"], "/dev/null can't be read"),
    (["--shape", "up=fast"], "--shape: up=fast is no rate from 10kbit to 1000mbit"),
    (["--junit", "/nonexistent/a.xml"], "open /nonexistent/a.xml"),
    (["--log", "/dev/null", "--log-files", "/etc/passwd"], "write into the folder /etc/passwd"),
  ])
  func invalidOptions(options: [String], text: String) throws {
    let result = try run(nil, options)
    #expect(result.status == 2 && result.errors.contains(text), "\(result)")
  }

  @Test func oneScript() throws {
    let script = folder.path("empty.txt")
    try Data().write(to: URL(filePath: script))
    let result = try run("then: expect registered", ["--script", script])
    #expect(result.status == 2 && result.errors.contains("there is one script, by --script or --test"), "\(result)")
  }

  /// A test that is cut short says so, whatever it waited for, and nothing counts as met.
  @Test(
    arguments: ["never registered for 20", "expect registered within 20"],
    [
      (["--deadline", "0.3"], 6), (["--wait-app", "0.3"], 4), ([], 143),
    ] as [([String], Int32)])
  func cutShort(step: String, end: ([String], Int32)) throws {
    try Data("then: \(step)".utf8).write(to: folder.url.appending(path: "test.sdl"))
    let program = try Program(
      [
        Installation.headUnitTool.path, "--port", "0", "--test", folder.path("test.sdl"), "--junit",
        folder.path("out.xml"),
      ] + end.0, in: folder)
    if end.0.isEmpty {
      try program.waitForOutput { $0.contains("listening ") ? true : nil }
      program.end()
    }
    let result = program.wait()
    #expect(result.status == end.1, "\(result)")
    #expect(folder.text("out.xml").contains("tests=\"1\" failures=\"1\""), "\(folder.text("out.xml"))")
  }

  private static let track = """
    <?xml version="1.0"?>
    <gpx version="1.1" creator="test"><trk><trkseg>
      <trkpt lat="0" lon="0"><ele>35.5</ele><time>2024-05-01T12:00:00Z</time></trkpt>
      <trkpt lat="0" lon="0.001"><time>2024-05-01T12:00:10Z</time></trkpt>
      <trkpt lat="0.001" lon="0.001"><time>2024-05-01T12:00:40Z</time></trkpt>
    </trkseg></trk></gpx>
    """

  /// A script whose car drives along a track, for an app that has subscribed to its position.
  @Test func drive() throws {
    try Data(Self.track.utf8).write(to: folder.url.appending(path: "a track.gpx"))
    let result = try run(
      """
      then: expect SubscribeVehicleData/response resultCode=SUCCESS within 20
      then: drive "\(folder.path("a track.gpx"))" speed 100
      then: expect OnVehicleData gps.utcSeconds=0 gps.altitude=35.5
      then: expect OnVehicleData speed~"^40"
      then: expect OnVehicleData gps.utcSeconds=40 gps.latitudeDegrees=0.001
      then: expect OnVehicleData speed~"^0"
      """, program("subscribes"))
    #expect(result.status == 0, "\(result)")
  }

  /// A file that can't be driven along is an error at the start, or of the typed command.
  @Test func tracksThatAreNone() throws {
    let file = folder.path("a.gpx")
    try Data("<gpx>\n<wpt lat=\"91\" lon=\"0\"/></gpx>".utf8).write(to: URL(filePath: file))
    let result = try run("at 1: drive \(file)\nthen: expect registered", [])
    #expect(result.status == 2, "\(result)")
    #expect(
      result.errors.contains("test.sdl, line 1: \(file), line 2: \"91\" is no latitude from -90 to 90"), "\(result)")
    let input = Pipe()
    let program = try Program([Installation.headUnitTool.path, "--port", "0", "--commands"], in: folder, input: input)
    input.fileHandleForWriting.write(Data("drive /nonexistent/a.gpx\nquit\n".utf8))
    let typed = program.wait()
    #expect(typed.output.contains("command without effect: /nonexistent/a.gpx can't be read: No such"), "\(typed)")
  }

  /// A road of the command line, until the script has another: it takes the app's start there and back. What is on it at
  /// the end arrives.
  @Test func slowRoad() throws {
    // The end of the head unit would be its own end, too.
    let patient = ["--", "sh", "-c", "trap '' TERM; \(program().dropFirst().joined(separator: " ")); echo status $?"]
    let result = try run(
      """
      then: expect registered within 20
      then: shape down=600kbit delay=300ms loss-stall=50ms/1s
      then: expect unregistered within 20
      """,
      ["--shape", "up=600kbit delay=150ms jitter=5ms", "--log", folder.path("run.jsonl")] + patient)
    #expect(result.status == 0 && result.output.contains("program: status 0\n"), "\(result)")
    let check = """
      import json, sys
      lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
      start = next(line for line in lines if line["kind"] == "frame")
      registration = next(line for line in lines if line.get("function") == "RegisterAppInterface")
      assert registration["t"] - start["t"] >= 0.299, (start, registration)
      print("ok")
      """
    let checked = try Program(["/usr/bin/python3", "-c", check, folder.path("run.jsonl")], in: folder).wait()
    #expect(checked.output == "ok\n", "\(checked)")
  }

  /// A log that can't be written, and a report, don't go unnoticed.
  @Test(arguments: ["--log", "--junit"])
  func fullDisk(option: String) throws {
    let result = try run(nil, [option, "/dev/full"] + program("unregisters"))
    #expect(result.status == 2 && result.errors.contains("No space left on device"), "\(result)")
    #expect(result.output.contains("summary "))
  }
}
