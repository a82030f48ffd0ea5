import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import Testing

@testable import HeadUnitControl

/// Requests that wait for something.
@Suite struct ControlInterfaceTests: HTTPAsking {
  private let pictures = PictureTaker()
  private let control: ControlInterface
  /// Commands that were carried out.
  private let commands = Monitor<[String]>([])
  private let port: UInt16

  init() throws {
    let lines = ConversationWriter(nil, keepsRecent: true, since: .zero)
    control = ControlInterface(
      ConversationLog(lines), pictures, display: VideoSize(800, 480), keepsImages: false)
    var address = try #require(ControlAddress(text: "0"))
    address.token = Self.token
    port = try control.start(address, hasPage: false) { [commands] _, text in
      commands.change { $0.append(text) }
      return nil
    }
  }

  private func post(_ path: String, _ body: String) throws -> Int32 {
    try connect(port, head("POST", path, ["Content-Length: \(body.utf8.count)"]) + body)
  }

  private func get(_ path: String) throws -> Int32 { try connect(port, head("GET", path, [])) }

  /// One end of it answers one of them, in their order.
  @Test func twoWhoExpectTheSame() throws {
    defer { control.stop() }
    var clients: [Int32] = []
    defer { for client in clients { close(client) } }
    for count in 1...2 {
      clients.append(try post("/expect", "Show"))
      let begun = commands.wait(until: MonotonicClock.now + .seconds(30)) { $0.count == count ? $0 : nil }
      #expect(begun?.last == "expect Show")
    }
    for (client, failure) in zip(clients, [nil, "nothing came"]) {
      // Another one concerns neither.
      control.note(.tested(TestOutcome(line: nil, text: "expect Alert", failure: "nothing came")))
      control.note(.tested(TestOutcome(line: nil, text: "expect Show", failure: failure)))
      #expect(try answer(client).status == (failure == nil ? "200" : "417"))
    }
    // Nobody waits any more.
    control.note(.tested(TestOutcome(line: nil, text: "expect Show")))
  }

  /// No more than eight at once, as often as one likes.
  @Test func screenshots() throws {
    defer {
      pictures.finish()
      control.stop()
    }
    let clients = try (0..<9).map { _ in try get("/screenshot.png") }
    defer { for client in clients { close(client) } }
    // The one that came last, whichever that is, is refused while nobody looks at pictures.
    var polled = clients.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    #expect(poll(&polled, nfds_t(polled.count), 30_000) == 1)
    try pictures.start(nil)
    // Without a picture there is none.
    let answers = try clients.map { try answer($0).status }
    #expect(answers.sorted() == [String](repeating: "409", count: 8) + ["503"])
    let later = try get("/screenshot.png")
    defer { close(later) }
    #expect(try answer(later).status == "409")
  }
}
