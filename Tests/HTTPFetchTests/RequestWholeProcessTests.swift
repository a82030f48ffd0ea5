import Foundation
import Glibc
import HTTPFetch
import TestSupport
import Testing

/// What a request leaves behind in the process, and takes from its environment.
@Suite struct RequestWholeProcessTests {
  @Test func nothingIsLeftBehind() throws {
    let body = [UInt8](repeating: 1, count: 4 << 20)
    func post(_ count: Int) throws -> Int {
      for _ in 0..<count {
        _ = try? HTTPClient.post(
          body, to: "http://127.0.0.1:1/", contentType: "text/plain", allowsThisMachine: true)
      }
      return try residentBytes()
    }
    let before = try post(3)
    #expect(try post(20) < before + 10 * body.count)
  }

  /// The thread that watches the time of a request ends with it.
  @Test func noThreadIsLeft() throws {
    func watching() -> Int {
      let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      return tasks.count { task in
        (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == "sdl-policy-end\n"
      }
    }
    for _ in 0..<5 {
      #expect(throws: HTTPFailure.self) {
        try HTTPClient.post([1], to: "http://127.0.0.1:1/", contentType: "text/plain", allowsThisMachine: true)
      }
    }
    #expect(eventually { watching() == 0 }, "\(watching())")
  }

  /// A proxy could reach servers of this machine, so one that must not is asked without it.
  @Test func proxyOfTheUser() throws {
    let proxy = try TestServer("")
    setenv("https_proxy", proxy.url, 1)
    defer { unsetenv("https_proxy") }
    for (host, allowsThisMachine) in [("distant", false), ("any", true)] {
      #expect(throws: HTTPFailure.self) {
        try HTTPClient.post(
          [1], to: "https://\(host).invalid/", contentType: "text/plain", allowsThisMachine: allowsThisMachine,
          within: .seconds(1))
      }
    }
    #expect(proxy.request.hasPrefix("CONNECT any.invalid:443 "), "\(proxy.request)")
  }
}
