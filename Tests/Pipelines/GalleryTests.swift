import Foundation
import Testing

/// What `pipelines/README.md` promises of its examples.
@Suite struct GalleryTests {
  private let folder: TemporaryFolder
  private let pipelines = Installation.package.appending(path: "pipelines")

  init() throws {
    folder = try TemporaryFolder()
  }

  private func example(_ name: String, _ arguments: String..., environment: [String: String] = [:]) throws -> Program {
    try Program(
      [pipelines.appending(path: name).path] + arguments, in: folder,
      environment: environment)
  }

  /// 640×360 in 480×320: black above and below; and four seconds of sound, by the same app.
  @Test func film() throws {
    let headUnit = try HeadUnitProgram(
      in: folder, "--preset", "core", "--app-exits", "--record", folder.path("record.h264"), "--record-audio",
      folder.path("sound.wav"))
    let result = try example("film.sh", environment: ["SDL_URI": headUnit.uri, "NUM_BUFFERS": "100"]).wait()
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains(/sdl-stream-started.*width=\(int\)480, height=\(int\)320/), "\(result)")
    #expect(headUnit.waitForEnd().status == 0)
    let pictures = try recorded(width: 480, height: 320)
    // Four seconds of the film, at the head unit's 15 frames per second; fewer on a busy machine.
    #expect((12...70).contains(pictures.count), "\(pictures.count)")
    #expect(pictures.brightness(of: 10, x: 10, y: 10) < 30 && pictures.brightness(of: 10, x: 10, y: 310) < 30)
    #expect(pictures.whitePixels(of: 10) > 1000)
    // A machine that stands still for longer than the lead loses some.
    #expect(try soundSeconds() > 1 && soundSeconds() < 4.5)
  }

  /// Of 16 kHz, 16 bit, after the header of the WAV file.
  private func soundSeconds() throws -> Double {
    Double(try Data(contentsOf: folder.url.appending(path: "sound.wav")).count - 44) / 32_000
  }

  /// A second of two tones at least, or a sentence, while the picture runs on.
  @Test func prompt() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record-audio", folder.path("sound.wav"))
    let result = try example("prompt.sh", environment: ["SDL_URI": headUnit.uri, "NUM_BUFFERS": "150"]).wait()
    #expect(result.status == 0, "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0 && summary.output.contains("violations=0"), "\(summary)")
    #expect(result.output.contains(/sdl-stream-started.*service=\(string\)video/), "\(result)")
    #expect(result.output.contains(/sdl-stream-started.*service=\(string\)audio/), "\(result)")
    #expect(try soundSeconds() > 0.5)
  }

  @Test func microphone() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record-audio", folder.path("sound.wav"))
    let environment = [
      "SDL_URI": headUnit.uri, "NUM_BUFFERS": "500", "AUDIO_SOURCE": "audiotestsrc is-live=true samplesperbuffer=441",
    ]
    let result = try example("microphone.sh", environment: environment).wait()
    #expect(result.status == 0 && headUnit.waitForEnd().status == 0, "\(result)")
    // What a live source brings before the app is registered is lost.
    #expect(try soundSeconds() > 0.2)
  }

  private func recorded(width: Int, height: Int) throws -> Pictures {
    try Pictures(
      from: "filesrc location=\(folder.path("record.h264")) ! h264parse ! avdec_h264", width: width, height: height,
      in: folder)
  }

  /// Touched, the page changes from navy to green, and shows a white square; where WebKit is not installed it says so.
  @Test func webPage() throws {
    guard try Program.run("gst-inspect-1.0", "--exists", "wpesrc", in: folder).status == 0 else {
      let result = try example("web-page.sh").wait()
      #expect(result.status == 77 && result.output.contains("gstreamer1.0-wpe"), "\(result)")
      return
    }
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--commands", "--record", folder.path("record.h264"))
    // WebKit warns of what a machine without a desktop lacks.
    let app = try example(
      "web-page.sh", environment: ["SDL_URI": headUnit.uri, "NUM_BUFFERS": "200", "G_DEBUG": ""])
    try app.waitForOutput { $0.contains("load-progress=(double)100") && $0.contains("sdl-stream-started") ? true : nil }
    try headUnit.command("touch begin 0 300 200", "touch end 0 300 200")
    let result = app.wait()
    // On a busy machine the WebKit of Debian 12 may abort when everything is over.
    #expect([0, SIGABRT].contains(result.status) && result.output.contains("Setting pipeline to NULL"), "\(result)")
    #expect(!result.output.contains("GstNavigationMessage"), "\(result)")
    _ = headUnit.waitForEnd()

    let pictures = try recorded(width: 800, height: 480)
    let last = pictures.count - 1
    #expect(pictures.brightness(of: last, x: 300, y: 200) > 230)
    #expect((60...100).contains(pictures.brightness(of: last, x: 700, y: 400)), "green")
  }

  @Test(arguments: ["openh264enc", "x264enc", "vah264enc"])
  func encoder(_ name: String) throws {
    let headUnit = try HeadUnitProgram(in: folder, "--commands", "--record", folder.path("record.h264"))
    let app = try example("encoder.py", name, environment: ["SDL_URI": headUnit.uri])
    guard try Program.run("gst-inspect-1.0", "--exists", name, in: folder).status == 0 else {
      let result = app.wait()
      #expect(result.status == 77 && result.output.contains("no encoder"), "\(result)")
      return
    }
    // 600 kbit/s, unless the link has carried more before the picture is announced.
    try app.waitForOutput { $0.contains("\(name): 800×480, 15 fps, ") ? true : nil }
    try headUnit.command("max-bitrate 200", "framerate 10", "resize 480x320 scale 1")
    try app.waitForOutput { $0.contains("\(name): 480×320, 10 fps, 134 kbit/s\n") ? true : nil }
    app.interrupt()
    _ = app.wait()
  }

  /// Without a name it takes what there is.
  @Test func anyEncoder() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits", "--record", folder.path("record.h264"))
    let result = try example("encoder.py", environment: ["SDL_URI": headUnit.uri, "NUM_BUFFERS": "90"]).wait()
    #expect(result.status == 0 && result.output.contains("enc: 800×480"), "\(result)")
    #expect(headUnit.waitForEnd().status == 0)
    // The first is made before the head unit has told its size; a busy machine is late for more.
    #expect((15...90).contains(try recorded(width: 800, height: 480).count))
  }

  /// The file is whole, whether the app ends or Ctrl-C does.
  @Test(arguments: [45, nil])
  func recorder(pictures: Int?) throws {
    let path = folder.path("recording.mp4")
    let program = try example(
      "recorder.sh", path, environment: pictures.map { ["NUM_BUFFERS": "\($0)"] } ?? [:])
    if pictures == nil {
      try program.waitForOutput { $0.contains("Registered with") ? true : nil }
      try program.wait(until: { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 > 20_000 }
      )
      program.interrupt()
    }
    let result = program.wait()
    #expect(pictures == nil || result.status == 0, "\(result)")

    let source = "filesrc location=\(path) ! qtdemux ! h264parse ! avdec_h264"
    let decoded = try Pictures(from: source, width: 800, height: 480, in: folder)
    // A busy machine is late for most.
    #expect(decoded.count > 0 && decoded.count <= (pictures ?? .max - 1) + 1, "\(decoded.count)")
    // The pattern's white bar, and the clock.
    #expect(decoded.whitePixels(of: decoded.count - 1) > 1000)
    if pictures != nil {
      #expect((2...8).contains(try seconds(of: source)))
    }
  }

  /// A file for each size, with nothing of another in it.
  @Test func recorderOfSizes() throws {
    let script = folder.path("script.txt")
    try "on frame 20 after 0.1: resize 480x320".write(toFile: script, atomically: true, encoding: .utf8)
    let path = folder.path("sizes.mp4")
    let recorder = try example("recorder.py", path, "port=0", "script=\(script)")
    let port = try recorder.waitForOutput { $0.firstMatch(of: /port ([0-9]+)/).map { String($0.1) } }
    let app =
      "gst-launch-1.0 -e videotestsrc is-live=true ! video/x-raw,framerate=15/1 ! videoconvertscale "
      + "! sdlvideosink uri=sdl://127.0.0.1:\(port)"
    let program = try Program(app.split(separator: " ").map(String.init), in: folder)
    try recorder.waitForOutput { $0.contains("sizes-2.mp4: 480×320") ? true : nil }
    program.interrupt()
    _ = program.wait()
    let result = recorder.wait()
    #expect(result.status == 0, "\(result)")
    func pictures(_ name: String, _ width: Int, _ height: Int) throws -> Int {
      let source = "filesrc location=\(folder.path(name)) ! qtdemux ! h264parse ! avdec_h264"
      return try Pictures(from: source, width: width, height: height, in: folder).count
    }
    let (first, second) = (try pictures("sizes.mp4", 800, 480), try pictures("sizes-2.mp4", 480, 320))
    #expect(first >= 20 && second >= 1, "\(first), \(second)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("sizes-3.mp4")))
  }

  /// When the last picture is shown.
  private func seconds(of source: String) throws -> Double {
    let result = try folder.launch("-v \(source) ! fakesink silent=false")
    let last = try #require(result.output.matches(of: /chain.*pts: 0:00:([0-9.]+), duration/).last, "\(result)")
    return try #require(Double(last.1))
  }

  @Test func encrypted() throws {
    let result = try example("encrypted.sh", folder.path("certificates"), environment: ["NUM_BUFFERS": "20"]).wait()
    #expect(result.status == 0 && result.output.contains("video-encrypted=(boolean)true"), "\(result)")
    #expect(result.output.contains("peer-verified=(boolean)true"), "\(result)")
    #expect(FileManager.default.fileExists(atPath: folder.path("certificates/app-key.pem")))
  }

  /// Two processes and two connections, of which one is cut and restored.
  @Test func secondary() throws {
    let result = try example("secondary.sh", environment: ["NUM_BUFFERS": "300"]).wait()
    let starts = result.output.matches(
      of: /sdl-stream-started, reason=\(string\)([a-z-]+).*transport=\(string\)([a-z]+)/
    )
    .map { "\($0.1) \($0.2)" }
    #expect(starts.suffix(2) == ["moved primary", "moved secondary"], "\(result)")
    // The second way, if the secondary transport takes longer than a second.
    let beginnings = [["first-start secondary"], ["first-start primary", "moved secondary"]]
    #expect(beginnings.contains(starts.dropLast(2)), "\(result)")
    #expect(result.output.contains("sdl-stream-stopped, reason=(string)transport-lost"), "\(result)")
    #expect(result.status == 0, "\(result)")
  }

  /// The ball on black, as often as asked for.
  @Test func loopback() throws {
    let result = try example("loopback.sh", folder.path("pictures"), environment: ["NUM_BUFFERS": "20"]).wait()
    #expect(result.status == 0 && result.output.contains("Registered with"), "\(result)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("pictures"))
    #expect(names.count == 20)
    let ball = try Pictures(
      from: "filesrc location=\(folder.path("pictures/00019.jpeg")) ! jpegdec", width: 800, height: 480, in: folder)
    #expect(ball.count == 1 && (500...5000).contains(ball.whitePixels(of: 0)), "\(ball.whitePixels(of: 0))")
  }

  @Test(arguments: [
    ("suspend", ["sdl-stream-stopped, reason=(string)hmi-status", "sdl-stream-started, reason=(string)restarted"]),
    ("resize", ["sdl-resized, old-width=(int)800, old-height=(int)380, width=(int)400, height=(int)240"]),
    ("nak-ladder", ["rejecting videoProtocol", "rejecting width, height", "protocol=(string)RTP"]),
  ])
  func scripted(_ script: String, texts: [String]) throws {
    // Each script takes some two seconds of the stream, which a busy machine may start late.
    let result = try example(
      "scripted.sh", pipelines.appending(path: "scripts/\(script).txt").path, environment: ["NUM_BUFFERS": "210"]
    ).wait()
    #expect(result.status == 0, "\(result)")
    let text = result.output + result.errors
    for expected in texts { #expect(text.contains(expected), "\(result)") }
    #expect(!text.contains("sdl-violation"), "\(result)")
  }

  /// The last speed stands in the middle of the picture, white on the pattern.
  @Test func vehicleData() throws {
    let result = try example(
      "vehicle-data.py", "--head-unit", Installation.headUnitTool.path, "--record", folder.path("record.h264")
    ).wait()
    #expect(result.status == 0, "\(result)")
    #expect(
      result.output.split(separator: "\n") == ["subscribed", "0 km/h", "30 km/h", "50 km/h", "80 km/h", "130 km/h"],
      "\(result)")
    let pictures = try recorded(width: 800, height: 480)
    #expect(pictures.whitePixels(of: pictures.count - 1) > pictures.whitePixels(of: 0) + 500)
  }

  @Test func turnByTurn() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--app-exits")
    let result = try example("turn-by-turn.py", "--uri", headUnit.uri).wait()
    #expect(result.status == 0, "\(result)")
    #expect(
      result.output.split(separator: "\n") == [
        "PutFile: SUCCESS", "UpdateTurnList: SUCCESS", "ShowConstantTBT: SUCCESS", "AlertManeuver: SUCCESS",
        "ShowConstantTBT: SUCCESS", "Alert: SUCCESS",
      ], "\(result)")
    let summary = headUnit.waitForEnd()
    #expect(summary.status == 0, "\(summary)")
    for text in [
      #"UpdateTurnList "Turn left", "Arrive""#, #"ShowConstantTBT "Turn left", "Main Street", "12:30""#,
      #"AlertManeuver "In 200 metres, turn left.""#, #"Alert "You have arrived""#,
    ] {
      #expect(summary.output.contains(text), "\(summary)")
    }
  }

  @Test func twoApps() throws {
    let result = try example("two-apps.py").wait()
    #expect(result.status == 0, "\(result)")
    let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    // The map asks to be closed, and the screen is the radio's before the map is unregistered.
    #expect(
      lines.filter { !$0.contains("stream-stopped") && $0 != "Map app-unregistered" } == [
        "Map app-registered", "Map hmi-status NONE", "Map hmi-status FULL", "Map stream-started 800×480",
        "Radio app-registered", "Radio hmi-status NONE", "Map hmi-status NONE", "Radio hmi-status FULL",
        "Radio stream-started 800×480", "Radio hmi-status NONE", "Radio app-unregistered",
      ], "\(result)")
    #expect(lines.contains("Map app-unregistered"))
    let totals = lines.compactMap { $0.firstMatch(of: /stream-stopped (\d+) pictures/).flatMap { Int($0.1) } }
    #expect(totals.count == 2 && totals[0] > 5 && totals[1] > totals[0] + 5, "\(lines)")
  }

  @Test func statistics() throws {
    let result = try example("statistics.py").wait()
    #expect(result.status == 0, "\(result)")
    let sent = result.output.matches(of: /(?m)^frames-in=\d+ frames-sent=(\d+) bitrate-measured-kbps=\d+$/)
      .compactMap { Int($0.1) }
    #expect(sent.count == 6 && sent == sent.sorted() && (sent.last ?? 0) > 20, "\(result)")
    let text = String(decoding: try Data(contentsOf: pipelines.appending(path: "statistics.py")), as: UTF8.self)
    #expect(text.split(separator: "\n").count { !$0.hasPrefix("#") } == 10)
  }
}
