import HTTPServe
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import Synchronization

/// The control of the head unit by other programs, over HTTP (`--control`).
final class ControlInterface: Sendable {
  private struct State: Sendable {
    var state = HeadUnitState()
    /// Requests that wait for the end of an expectation, by its text; the oldest first.
    var expectations: [String: [HTTPResponder]] = [:]
    var followers: [HTTPResponder] = []
  }

  private static let jsonLines = "application/x-ndjson"
  /// Of the log, at once.
  private static let partByteCount = 64 << 10

  private let log: ConversationLog
  private let pictures: PictureTaker
  private let state = Mutex(State())
  private let server = Mutex<HTTPServer?>(nil)

  init(_ log: ConversationLog, _ pictures: PictureTaker) {
    (self.log, self.pictures) = (log, pictures)
  }

  /// Begins to listen, and returns the port.
  /// - Parameter perform: carries a command out; returns why it has no effect.
  func start(
    _ options: Options.Control, _ perform: @escaping @Sendable (HeadUnitCommand, String) -> String?
  ) throws(HTTPServerFailure) -> UInt16 {
    let http = try HTTPServer(address: options.address, port: options.port, token: options.token) {
      [self] request, responder in
      switch (request.method, request.path) {
      case ("GET", "/state"): responder.answer(HTTPAnswer(state.withLock { $0.state.json }.serialized + [10]))
      case ("GET", "/log"): sendLog(request, responder)
      case ("GET", "/screenshot.png"): sendScreenshot(responder)
      case ("POST", "/command"): responder.answer(command(request, perform))
      case ("POST", "/expect"): expect(request, responder, perform)
      default:
        responder.answer(
          Self.failure(404, "there are GET /state, /log, /screenshot.png, and POST /command, /expect"))
      }
    }
    server.withLock { $0 = http }
    return http.port
  }

  func stop() {
    server.withLock { $0.take() }?.stop()
  }

  func note(_ event: HeadUnitServerEvent) {
    state.withLock { $0.state.note(event) }
    guard case .tested(let outcome) = event else { return }
    let responder = state.withLock { state -> HTTPResponder? in
      guard var waiting = state.expectations[outcome.text] else { return nil }
      defer { state.expectations[outcome.text] = waiting.isEmpty ? nil : waiting }
      return waiting.removeFirst()
    }
    responder?.answer(HTTPAnswer(outcome.failure == nil ? 200 : 417, outcome.members.serialized + [10]))
  }

  /// The log has another line.
  func logHasGrown() {
    let followers = state.withLock { state in
      state.followers.removeAll(where: \.isClosed)
      return state.followers
    }
    for follower in followers { follower.wake() }
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

  private func sendScreenshot(_ responder: HTTPResponder) {
    pictures.takeImage { image in
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
    if follows { state.withLock { $0.followers.append(responder) } }
    responder.stream(contentType: Self.jsonLines) { [log] in
      position.withLock { position in
        let (lines, last) = log.lines(after: position, atMost: Self.partByteCount)
        position = last
        return lines.isEmpty ? (follows ? .wait : .end) : .bytes(lines)
      }
    }
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text.drop(while: \.isWhitespace))
  }
}
