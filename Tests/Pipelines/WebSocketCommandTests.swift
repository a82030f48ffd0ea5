import Foundation
import Testing

/// `sdl-head-unit` and the sink over WebSocket, as programs.
@Suite struct WebSocketCommandTests {
  private static let video = "videotestsrc num-buffers=20 ! video/x-raw,width=800,height=480,framerate=30/1"
  private static let client = Installation.package.appending(path: "Tests/Pipelines/Programs/websocket.py").path

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The recorded video is that of videotestsrc.
  private func expectPictures(in file: String, _ headUnit: Program.Result) throws {
    let pictures = try Pictures(
      from: "filesrc location=\(folder.path(file)) ! h264parse ! avdec_h264", width: 800, height: 480, in: folder)
    // A busy machine may leave most out.
    #expect(pictures.count > 0 && headUnit.output.contains(" pictures=\(pictures.count) "), "\(headUnit)")
    #expect(pictures.brightness(of: 0, x: 50, y: 100) > 150 && pictures.brightness(of: 0, x: 750, y: 100) < 60)
  }

  /// A foreign implementation is the app.
  @Test func webApp() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--websocket", "0", "--websocket-origin", "https://mine.example")
    let port = try "\(headUnit.webSocketPort())"
    func client(_ origin: String...) throws -> Program.Result {
      try Program(["/usr/bin/python3", Self.client, port] + origin, in: folder).wait()
    }
    #expect(try client().output == "SUCCESS\n")
    for (origin, status) in [
      ("https://elsewhere.example", "403"), ("null", "403"), ("https://mine.example", "101"),
      ("http://localhost:8000", "101"),
    ] {
      #expect(try client(origin).output == "\(status)\n", "\(origin)")
    }
    headUnit.interrupt()
    let result = headUnit.waitForEnd()
    #expect(result.output.contains("1 violation: text message over WebSocket"), "\(result)")
    #expect(result.output.contains("violation: WebSocket refused: pages of the origin https://elsewhere.example"))
  }

  @Test func sinkConnects() throws {
    let headUnit = try HeadUnitProgram(
      in: folder, "--websocket", "127.0.0.1:0", "--record", folder.path("video.h264"), "--app-exits")
    let address = try "localhost:\(headUnit.webSocketPort())"
    let result = try folder.launch("\(Self.video) ! sdlvideosink max-lateness=-1 uri=sdl+ws://\(address)")
    #expect(result.status == 0, "\(result)")
    let end = headUnit.waitForEnd()
    #expect(end.status == 0 && end.output.contains("violations=0"), "\(end)")
    try expectPictures(in: "video.h264", end)
  }

  /// The error says what to write for such a port.
  @Test func sinkThatTakesItForTCP() throws {
    let headUnit = try HeadUnitProgram(in: folder, "--websocket", "127.0.0.1:0")
    let uri = try "sdl://localhost:\(headUnit.webSocketPort())"
    let result = try folder.launch("\(Self.video) ! sdlvideosink uri=\(uri) connect-timeout=500")
    #expect(result.status != 0 && result.errors.contains("write sdl+ws://HOST:PORT"), "\(result)")
  }

  /// The head unit connects, when the driver wants the app. With TLS, both ends have certificates.
  @Test(arguments: [false, true]) func sinkWaits(isSecure: Bool) throws {
    // A port that is free now.
    let port = try HeadUnitProgram(in: folder).port
    func keys(_ name: String, _ arguments: (String, String) -> [String]) -> [String] {
      let files = [
        ("certificate", "keys/\(name).pem"), ("private-key", "keys/\(name)-key.pem"),
        ("ca-certificates", "keys/authority.pem"),
      ]
      return isSecure ? files.flatMap { arguments($0.0, folder.path($0.1)) } : []
    }
    if isSecure {
      let make = Installation.package.appending(path: "scripts/make-certificates").path
      #expect(try Program([make, folder.path("keys"), "test-1"], in: folder).wait().status == 0)
    }
    let uri = "\(isSecure ? "sdl+wss" : "sdl+ws")-listen://127.0.0.1:\(port)"
    let launch = "gst-launch-1.0 \(Self.video) ! sdlvideosink max-lateness=-1 open-timeout=0 uri=\(uri)"
      .split(separator: " ").map(String.init)
    let sink = try Program(launch + keys("app") { ["\($0)=\($1)"] }, in: folder)
    let app = "\(isSecure ? "wss" : "ws")://localhost:\(port)/maps"
    let headUnit = try HeadUnitProgram(
      in: folder,
      arguments: [
        "--cloud-app", app, "--auth-token", "letmein", "--no-activation", "--commands", "--record",
        folder.path("video.h264"), "--app-exits", "--log", folder.path("run.jsonl"),
      ] + keys("head-unit") { ["--\($0)", $1] })
    try headUnit.waitForOutput("waiting for the driver to activate the cloud app \(app)")
    try headUnit.command("activate")
    #expect(sink.wait().status == 0)
    let end = headUnit.waitForEnd()
    #expect(end.output.contains("violations=0"), "\(end)")
    #expect(folder.text("run.jsonl").contains(#""authToken":"letmein""#))
    try expectPictures(in: "video.h264", end)
  }

  /// Both ends have certificates.
  @Test func sinkConnectsWithTLS() throws {
    let make = Installation.package.appending(path: "scripts/make-certificates").path
    #expect(try Program([make, folder.path("keys"), "test-1"], in: folder).wait().status == 0)
    let headUnit = try HeadUnitProgram(
      in: folder, "--websocket", "0", "--websocket-tls", "--certificate", folder.path("keys/head-unit.pem"),
      "--private-key", folder.path("keys/head-unit-key.pem"), "--ca-certificates", folder.path("keys/authority.pem"),
      "--record", folder.path("video.h264"), "--app-exits")
    let port = try headUnit.webSocketPort()
    let keys = "ca-certificates=\(folder.path("keys/authority.pem"))"
    let own = "certificate=\(folder.path("keys/app.pem")) private-key=\(folder.path("keys/app-key.pem"))"
    for (uri, properties, text) in [
      ("sdl+wss", "", "Name the authority of its certificate (ca-certificates)"),
      ("sdl+wss", keys, "It may want a certificate (certificate, private-key)"),
      ("sdl+ws", "", "sdl+wss://HOST:PORT"),
    ] {
      let result = try folder.launch(
        "\(Self.video) ! sdlvideosink connect-timeout=500 uri=\(uri)://127.0.0.1:\(port) \(properties)")
      #expect(result.status != 0 && result.errors.contains(text), "\(result)")
    }
    let result = try folder.launch(
      "\(Self.video) ! sdlvideosink max-lateness=-1 uri=sdl+wss://127.0.0.1:\(port) \(keys) \(own)")
    #expect(result.status == 0, "\(result)")
    try expectPictures(in: "video.h264", headUnit.waitForEnd())
  }
}
