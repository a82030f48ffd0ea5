import HTTPServe
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import Synchronization

/// The control of a head unit by other programs and by its page for browsers, over HTTP (docs/testing-without-a-car.md,
/// "Control it from outside").
package final class ControlInterface: Sendable {
  private struct State: Sendable {
    var state: HeadUnitState
    /// Requests that wait for the end of an expectation, by its text; the oldest first.
    var expectations: [String: [HTTPResponder]] = [:]
    /// Requests that wait for a picture.
    var screenshotCount = 0
  }

  private static let jsonLines = "application/x-ndjson"
  /// Of the log, at once.
  private static let partByteCount = 64 << 10
  /// At once; each keeps what its picture is decoded from.
  private static let mostScreenshots = 8

  private let log: ConversationLog
  private let pictures: PictureTaker
  private let state: Mutex<State>
  private let servers = Mutex<[HTTPServer]>([])
  private let logFollowers = Followers()
  private let videoFollowers = Followers()

  /// Serves nobody before ``start(_:hasPage:_:)``.
  /// - Parameters:
  ///   - log: keeps recent lines; its events come from here.
  ///   - pictures: likewise.
  ///   - display: the size of the screen before an app is told another one, in pixels.
  ///   - keepsImages: whether images that apps have sent are kept for `GET /file`.
  package init(_ log: ConversationLog, _ pictures: PictureTaker, display: VideoSize, keepsImages: Bool) {
    (self.log, self.pictures) = (log, pictures)
    state = Mutex(State(state: HeadUnitState(display: display, keepsImages: keepsImages)))
    log.whenGrown { [logFollowers] in logFollowers.wake() }
  }

  /// Begins to listen, and returns the port.
  /// - Parameters:
  ///   - hasPage: whether the page for browsers is there.
  ///   - perform: carries a command out, which was given as this text; returns why it has no effect. Called on a thread of
  ///     the server, without a lock.
  package func start(
    _ address: ControlAddress, hasPage: Bool,
    _ perform: @escaping @Sendable (HeadUnitCommand, String) -> String?
  ) throws(HTTPServerFailure) -> UInt16 {
    let http = try HTTPServer(
      address: address.host, port: address.port, token: address.token, pages: hasPage ? WebPage.answers : [:]
    ) { [self] request, responder in
      switch (request.method, request.path) {
      case ("GET", "/state"): sendState(responder)
      case ("GET", "/log"): sendLog(request, responder)
      case ("GET", "/video"): sendVideo(request, responder)
      case ("GET", "/file"): sendFile(request, responder)
      case ("GET", "/screenshot.png"): sendScreenshot(responder)
      case ("POST", "/command"): responder.answer(command(request, perform))
      case ("POST", "/expect"): expect(request, responder, perform)
      default:
        responder.answer(
          Self.failure(404, "there are GET /state, /log, /screenshot.png, /video, /file, POST /command, /expect"))
      }
    }
    servers.withLock { $0.append(http) }
    return http.port
  }

  /// Sends the answers that are there, and closes all connections; the ports are free then.
  package func stop() {
    let servers = servers.withLock { servers in
      defer { servers = [] }
      return servers
    }
    for server in servers { server.stop() }
  }

  /// Every event of the head unit, which log and pictures get from here.
  package func note(_ event: HeadUnitServerEvent) {
    // In this order: who reads a line may ask for the state, and who is answered for the lines.
    state.withLock { $0.state.note(event) }
    log.note(event)
    answerExpectation(event)
    guard case .session(let id, let event) = event else { return }
    pictures.note(event, of: id)
    if case .videoData = event { videoFollowers.wake() }
  }

  /// Answers who waits for the end of this expectation.
  private func answerExpectation(_ event: HeadUnitServerEvent) {
    guard case .tested(let outcome) = event else { return }
    let responder = state.withLock { state -> HTTPResponder? in
      guard var waiting = state.expectations[outcome.text] else { return nil }
      defer { state.expectations[outcome.text] = waiting.isEmpty ? nil : waiting }
      return waiting.removeFirst()
    }
    responder?.answer(HTTPAnswer(outcome.failure == nil ? 200 : 417, outcome.members.serialized + [10]))
  }

  // MARK: Requests

  private static func failure(_ status: UInt32, _ text: String) -> HTTPAnswer {
    let members: JSONObject = ["result": .string("failed"), "cause": .string(text)]
    return HTTPAnswer(status, members.serialized + [10])
  }

  /// The text of a command or an expectation: the body, or its member of that name.
  private static func text(_ request: HTTPRequest, _ member: String) -> String {
    let body = String(decoding: request.body, as: UTF8.self)
    let isObject = body.first { !$0.isWhitespace } == "{"
    return isObject ? (try? JSONObject(parsing: request.body))?[member]?.string ?? "" : body
  }

  private func command(_ request: HTTPRequest, _ perform: (HeadUnitCommand, String) -> String?) -> HTTPAnswer {
    let text = Self.text(request, "command").trimmed
    guard !text.contains(where: \.isNewline) else { return Self.failure(400, "a command is one line") }
    do throws(HeadUnitCommand.Malformed) {
      guard let command = try HeadUnitCommand.parse(text) else { return Self.failure(400, "there is no command") }
      if command == .help {
        return HTTPAnswer(Array("\(HeadUnitCommand.helpText)\n".utf8), contentType: "text/plain; charset=utf-8")
      }
      if let failure = perform(command, text) { return Self.failure(409, failure) }
      let members: JSONObject = ["result": .string("done"), "seq": .integer(log.sequence)]
      return HTTPAnswer(members.serialized + [10])
    } catch {
      return Self.failure(400, error.description)
    }
  }

  private func expect(
    _ request: HTTPRequest, _ responder: HTTPResponder, _ perform: (HeadUnitCommand, String) -> String?
  ) {
    let text = Self.text(request, "expect").trimmed
    let line = text.hasPrefix("never ") || text.hasPrefix("expect ") ? text : "expect \(text)"
    do throws(HeadUnitCommand.Malformed) {
      guard let command = try HeadUnitCommand.parse(line), command.isAwaited else {
        return responder.answer(Self.failure(400, "\"\(text)\" is no expectation"))
      }
      state.withLock { $0.expectations[line, default: []].append(responder) }
      _ = perform(command, line)
    } catch {
      responder.answer(Self.failure(400, error.description))
    }
  }

  private func sendState(_ responder: HTTPResponder) {
    // Before the state, which may be newer than that line, but not older.
    let number = log.sequence
    let members = state.withLock { $0.state.json }
    responder.answer(HTTPAnswer(members.merging(["seq": .integer(number)]) { $1 }.serialized + [10]))
  }

  private func sendFile(_ request: HTTPRequest, _ responder: HTTPResponder) {
    let number = request.query["number"].flatMap { Int($0) }
    guard let image = state.withLock({ state in number.flatMap { state.state.image(number: $0) } }) else {
      return responder.answer(Self.failure(404, "there is no such image; --web keeps those that apps have sent"))
    }
    responder.answer(HTTPAnswer(image.bytes, contentType: image.contentType))
  }

  /// The pictures since the last key frame, and with `follow` those to come. Who reads too slowly continues with the last
  /// key frame, so that no pictures are kept for them.
  private func sendVideo(_ request: HTTPRequest, _ responder: HTTPResponder) {
    let follows = request.query["follow"] != nil
    let position = Mutex<(app: UInt8, number: Int)?>(nil)
    if follows { videoFollowers.add(responder) }
    responder.stream(contentType: "application/octet-stream") { [pictures] in
      position.withLock { position in
        guard let (app, units) = pictures.units(after: position, atMost: Self.partByteCount), let last = units.last
        else { return follows ? .wait : .end }
        position = (app, last.number)
        return .bytes(units.flatMap { $0.record(of: app) })
      }
    }
  }

  private func sendScreenshot(_ responder: HTTPResponder) {
    let isBusy = state.withLock { state in
      guard state.screenshotCount < Self.mostScreenshots else { return true }
      state.screenshotCount += 1
      return false
    }
    guard !isBusy else {
      return responder.answer(
        Self.failure(503, "\(Self.mostScreenshots) pictures are being decoded already; ask again later"))
    }
    pictures.takeImage { [self] image in
      state.withLock { $0.screenshotCount -= 1 }
      switch image {
      case .success(let bytes): responder.answer(HTTPAnswer(bytes, contentType: "image/png"))
      case .failure(let failure): responder.answer(Self.failure(409, failure.text))
      }
    }
  }

  /// The lines after `since`, and with `follow` those to come.
  private func sendLog(_ request: HTTPRequest, _ responder: HTTPResponder) {
    let first = request.query["since"].flatMap { Int($0) } ?? 0
    let follows = request.query["follow"] != nil
    let position = Mutex(first)
    if follows { logFollowers.add(responder) }
    responder.stream(contentType: Self.jsonLines) { [log] in
      position.withLock { position in
        let (lines, last) = log.lines(after: position, atMost: Self.partByteCount)
        position = last
        return lines.isEmpty ? (follows ? .wait : .end) : .bytes(lines)
      }
    }
  }
}

/// Answers that grow.
private final class Followers: Sendable {
  private let responders = Mutex<[HTTPResponder]>([])

  func add(_ responder: HTTPResponder) {
    responders.withLock { $0.append(responder) }
  }

  func wake() {
    let present = responders.withLock { responders in
      responders.removeAll(where: \.isClosed)
      return responders
    }
    for responder in present { responder.wake() }
  }
}

extension PictureGroup.Unit {
  /// Its form in `GET /video`: a header of 24 bytes, in network byte order, and the access unit. The header has the
  /// length of the access unit (4 bytes), the number (4), the app's session (1), flags (1: 1 for a key frame), width and
  /// height in pixels (2 each), 2 unused bytes, and the time in microseconds (8).
  func record(of app: UInt8) -> [UInt8] {
    var record: [UInt8] = []
    record.reserveCapacity(24 + bytes.count)
    func append(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.bigEndian) { record.append(contentsOf: $0) }
    }
    append(UInt32(clamping: bytes.count))
    append(UInt32(truncatingIfNeeded: number))
    append(app)
    append(UInt8(isKeyFrame ? 1 : 0))
    append(UInt16(clamping: size.width))
    append(UInt16(clamping: size.height))
    append(UInt16(0))
    append(UInt64(clamping: Int64(time / .microseconds(1))))
    record += bytes
    return record
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text.drop(while: \.isWhitespace))
  }
}
