import Glibc
import HTTPServe
import SDLLink
import Synchronization
import TestSupport
import Testing

@Suite struct HTTPServerTests: HTTPAsking {
  private func ask(
    _ server: HTTPServer, _ method: String, _ path: String, body: String = "", token: String? = token
  ) throws -> HTTPReply {
    let fields = method == "GET" ? [] : ["Content-Length: \(body.utf8.count)"]
    let client = try connect(server.port, head(method, path, fields, token: token) + body)
    defer { close(client) }
    return try answer(client)
  }

  private func server(
    pages: [String: HTTPAnswer] = [:], handler: @escaping HTTPServer.Handler = { $1.answer(HTTPAnswer([])) }
  ) throws -> HTTPServer {
    try HTTPServer(address: "127.0.0.1", port: 0, token: Self.token, pages: pages, handler: handler)
  }

  /// Whether nobody waits any more, perhaps a moment later.
  private func isClosed(_ responder: HTTPResponder) -> Bool {
    let end = MonotonicClock.now + .seconds(30)
    while !responder.isClosed, MonotonicClock.now < end { usleep(2000) }
    return responder.isClosed
  }

  /// The thread may be gone before the request to end has returned.
  @Test func manyEnds() throws {
    let threads = try (0..<4).map { _ in
      let thread = WorkerThread(name: "ends")
      try thread.start { for _ in 0..<3000 { #expect(throws: Never.self) { try server().stop() } } }
      return thread
    }
    for thread in threads { thread.join() }
  }

  /// What the handler gets, and what the client does: later, from another thread.
  @Test func requestAndAnswer() throws {
    let requests = Mutex<[HTTPRequest]>([])
    let server = try server { request, responder in
      requests.withLock { $0.append(request) }
      try? WorkerThread.detach(name: "answer") {
        responder.answer(HTTPAnswer(201, Array("done".utf8), contentType: "text/x", headers: ["X-More": "1"]))
      }
    }
    defer { server.stop() }
    let answer = try ask(server, "POST", "/some/path?a=1&b&a=2=3", body: "hello")
    let request = try #require(requests.withLock { $0.first })
    #expect(request.method == "POST" && request.path == "/some/path" && request.body == Array("hello".utf8))
    #expect(request.query == ["a": "2=3", "b": ""])
    #expect(answer.status == "201" && answer.body == "done" && answer.headers["x-more"] == "1")
    #expect(answer.headers["content-type"] == "text/x" && answer.headers["x-content-type-options"] == "nosniff")
    #expect(answer.headers["cache-control"] == "no-store" && answer.headers["connection"] == "close")
    #expect(try ask(server, "GET", "/").status == "201")
    #expect(requests.withLock { $0.last?.query } == [:])
  }

  @Test(arguments: [(0, "200"), (1, "413")]) func longestBody(excess: Int, status: String) throws {
    let sizes = Mutex<[Int]>([])
    let server = try server { request, responder in
      sizes.withLock { $0.append(request.body.count) }
      responder.answer(HTTPAnswer([]))
    }
    defer { server.stop() }
    let size = Int(HTTPServer.longestBody) + excess
    #expect(try ask(server, "POST", "/", body: String(repeating: "x", count: size)).status == status)
    #expect(sizes.withLock { $0 } == (excess == 0 ? [size] : []))
  }

  /// Nobody has said how long it is.
  @Test func bodyInChunks() throws {
    let server = try server { _, responder in
      Issue.record("it is handled")
      responder.answer(HTTPAnswer([]))
    }
    defer { server.stop() }
    let request = head("POST", "/", ["Transfer-Encoding: chunked"]) + "1\r\nx\r\n0\r\n\r\n"
    let client = try connect(server.port, request)
    defer { close(client) }
    #expect(try answer(client).status == "413")
  }

  /// Of the same length, longer, and shorter; pages need none, but only to be read.
  @Test func tokens() throws {
    let server = try server(pages: ["/page": HTTPAnswer(Array("page".utf8), contentType: "text/html")])
    defer { server.stop() }
    for token in ["letmeim", "Letmein", "letmeinn", "letmei", "", nil] {
      #expect(try ask(server, "GET", "/state", token: token).status == "401", "\(token ?? "none")")
    }
    #expect(try ask(server, "GET", "/state").status == "200")
    let page = try ask(server, "GET", "/page", token: nil)
    #expect(page.status == "200" && page.body == "page" && page.headers["content-type"] == "text/html")
    #expect(page.headers["x-content-type-options"] == "nosniff")
    #expect(try ask(server, "POST", "/page", token: nil).status == "401")
  }

  /// One part after the other, with a pause until there is another.
  @Test func parts() throws {
    let state = Monitor((parts: ["one", "two"], isWaiting: false, responder: HTTPResponder?.none))
    let server = try server { _, responder in
      state.withLock { $0.responder = responder }
      responder.stream(contentType: "text/x") {
        state.change { state -> HTTPResponder.Part in
          guard !state.parts.isEmpty else {
            state.isWaiting = true
            return .wait
          }
          let part = state.parts.removeFirst()
          return part == "end" ? .end : .bytes(Array(part.utf8))
        }
      }
    }
    defer { server.stop() }
    let client = try connect(server.port, head("GET", "/", []))
    defer { close(client) }
    for parts in [["three"], ["four", "end"]] {
      let responder = state.wait(until: MonotonicClock.now + .seconds(30)) { state -> HTTPResponder? in
        guard state.isWaiting else { return nil }
        state.isWaiting = false
        state.parts = parts
        return state.responder
      }
      try #require(responder).wake()
    }
    let answer = try answer(client)
    #expect(answer.status == "200" && answer.headers["content-type"] == "text/x")
    #expect(answer.headers["transfer-encoding"] == "chunked" && answer.headers["connection"] == "close")
    // The size of each, and its bytes.
    let lines = answer.body.split(separator: "\r\n").map(String.init)
    #expect(lines == ["3", "one", "3", "two", "5", "three", "4", "four", "0"])
    #expect(isClosed(try #require(state.withLock { $0.responder })))
  }

  /// What comes while the next part is looked for is asked for again.
  @Test func aPartThatComesJustThen() throws {
    let state = Monitor(0)
    let server = try server { _, responder in
      responder.stream(contentType: "text/x") {
        let count = state.change { count in
          count += 1
          return count
        }
        if count == 2 { responder.wake() }
        return count < 3 ? .wait : .end
      }
      responder.wake()
    }
    defer { server.stop() }
    #expect(try ask(server, "GET", "/").status == "200")
  }

  /// Nobody is asked for parts that nobody reads.
  @Test func clientThatGoes() throws {
    let state = Monitor((count: 0, responder: HTTPResponder?.none))
    let server = try server { _, responder in
      state.withLock { $0.responder = responder }
      responder.stream(contentType: "text/x") {
        state.change { $0.count += 1 }
        return .bytes([UInt8](repeating: 0x61, count: 65_536))
      }
    }
    defer { server.stop() }
    let client = try connect(server.port, head("GET", "/", []))
    #expect(state.wait(atLatest: MonotonicClock.now + .seconds(30)) { $0.count > 0 })
    close(client)
    let responder = try #require(state.withLock { $0.responder })
    #expect(isClosed(responder))
    // What comes too late does nothing.
    responder.answer(HTTPAnswer([]))
    responder.wake()
    #expect(try ask(server, "DELETE", "/", token: "wrong").status == "401", "it goes on")
  }

  /// A connection may not be silent for long, before nor in a request, nor while there is something to read; an answer
  /// may take its time.
  @Test func silence() throws {
    let unread = Monitor(HTTPResponder?.none)
    let server = try HTTPServer(
      address: "127.0.0.1", port: 0, token: Self.token, longestSilence: 1,
      handler: { request, responder in
        if request.path == "/much" {
          unread.change { $0 = responder }
          return responder.stream(contentType: "text/x") { .bytes([UInt8](repeating: 0x61, count: 65_536)) }
        }
        // The last one is empty.
        let parts = Monitor(["one"])
        if request.path == "/parts" {
          responder.stream(contentType: "text/x") {
            guard let part = parts.change({ $0.isEmpty ? nil : $0.removeFirst() }) else { return .wait }
            return part.isEmpty ? .end : .bytes(Array(part.utf8))
          }
        }
        _ = try? WorkerThread.detach(name: "late") {
          usleep(2_200_000)
          parts.change { $0 += ["two", ""] }
          if request.path == "/parts" { responder.wake() } else { responder.answer(HTTPAnswer([])) }
        }
      })
    defer { server.stop() }
    let requests = [
      "", "GET / HTTP/1.1\r\nHost: x\r\n", head("POST", "/", ["Content-Length: 2"]) + "1", head("GET", "/much", []),
    ]
    let clients = try requests.map { try connect(server.port, $0) }
    defer { for client in clients { close(client) } }
    #expect(try ask(server, "GET", "/").status == "200")
    let parts = try ask(server, "GET", "/parts").body
    #expect(parts.contains("one") && parts.contains("two"), "\(parts)")
    #expect(isClosed(try #require(unread.withLock { $0 })))
    for client in clients {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      var count = read(client, &bytes, bytes.count)
      while count > 0 { count = read(client, &bytes, bytes.count) }
      #expect(count == 0 || errno == ECONNRESET)
    }
  }

  /// The port is free, clients are let go, and late answers do nothing.
  @Test func theEnd() throws {
    let responders = Monitor<[HTTPResponder]>([])
    let server = try server { _, responder in responders.change { $0.append(responder) } }
    let client = try connect(server.port, head("GET", "/", []))
    defer { close(client) }
    var responder = responders.wait(until: MonotonicClock.now + .seconds(30)) { $0.first }
    server.stop()
    #expect(responder?.isClosed == true)
    var byte: UInt8 = 0
    let count = read(client, &byte, 1)
    #expect(count == 0 || (count < 0 && errno == ECONNRESET))
    try #require(responder).answer(HTTPAnswer([]))
    responder?.wake()
    let isFreed = { [weak responder] in responder == nil }
    responder = nil
    responders.withLock { $0 = [] }
    #expect(isFreed())
    let next = try HTTPServer(address: "127.0.0.1", port: server.port, token: "token") { $1.answer(HTTPAnswer([])) }
    #expect(next.port == server.port)
    #expect(throws: HTTPServerFailure.self) {
      try HTTPServer(address: "127.0.0.1", port: next.port, token: "token") { _, _ in }
    }
    #expect(try ask(next, "GET", "/", token: "token").status == "200")
    next.stop()
  }

  /// A server with nothing to do ends at once, and not after the time that clients have; a machine that stands still
  /// may hold up some.
  @Test func endsAtOnce() throws {
    let times = try (0..<5).map { _ -> Duration in
      let server = try HTTPServer(address: "127.0.0.1", port: 0, token: "token") { _, _ in }
      let start = MonotonicClock.now
      server.stop()
      return MonotonicClock.now - start
    }
    #expect(times.contains { $0 < .milliseconds(900) }, "\(times)")
  }
}

/// Clients that cost descriptors, which are those of the whole process.
@Suite(.serialized) struct HTTPServerWholeProcessTests: HTTPAsking {
  private let server: HTTPServer

  init() throws {
    server = try HTTPServer(address: "127.0.0.1", port: 0, token: Self.token) { $1.answer(HTTPAnswer([])) }
  }

  private func request() throws -> Int32 { try connect(server.port, head("GET", "/", [])) }

  /// They need no token, and the oldest ones give way to others.
  @Test func silentConnections() throws {
    defer { server.stop() }
    let before = ProcessCounts.descriptors
    let silent = try (0..<80).map { _ in try connect(server.port, "") }
    #expect(eventually { ProcessCounts.descriptors == before + 80 + 64 }, "\(ProcessCounts.descriptors - before)")
    usleep(200_000)
    #expect(ProcessCounts.descriptors == before + 80 + 64)
    let client = try request()
    #expect(try answer(client).status == "200")
    close(client)
    silent.forEach { close($0) }
    #expect(eventually { ProcessCounts.descriptors <= before })
  }

  @Test func noDescriptorForAWhile() throws {
    defer { server.stop() }
    var limits = rlimit()
    try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
    var few = rlimit(rlim_cur: 200, rlim_max: limits.rlim_max)
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few) == 0)
    defer { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) }
    var fillers = Array(sequence(state: ()) { _ in dup(STDERR_FILENO) }.prefix { $0 >= 0 })
    // One for the client alone.
    close(fillers.removeLast())
    let client = try request()
    defer { close(client) }
    usleep(300_000)
    fillers.forEach { close($0) }
    #expect(try answer(client).status == "200")
  }
}
