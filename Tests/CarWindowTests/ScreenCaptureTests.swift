import Foundation
import SDLLink
import TestSupport
import Testing

@testable import CarWindow

@Suite struct ScreenCaptureTests {
  private let server: VirtualServer

  init() throws {
    let server = try VirtualServer(maximumSize: ScreenSize(640, 480), pixelsPerInch: 96)
    self.server = server
    try #require(
      eventually {
        if server.descriptor >= 0 { server.readNumber() }
        return server.display != nil
      })
  }

  private func connect() throws -> XDisplay {
    try XDisplay(try #require(server.display), cookie: server.cookie)
  }

  private func end() {
    server.process.end(within: .seconds(5))
    server.removeTraces()
  }

  /// An existing display may become smaller after its size was read.
  @Test func aScreenThatHasBecomeSmaller() throws {
    defer { end() }
    let display = try connect()
    let capture = try ScreenCapture(display, showsPointer: false)
    display.size = ScreenSize(1280, 960)
    #expect(try capture.take() != nil)
    #expect(display.size == ScreenSize(640, 480))
  }

  /// Programs are served again at once, although nothing else is sent to the server.
  @Test func resizedServerServesOthers() throws {
    defer { end() }
    let display = try connect()
    try display.setScreenSize(ScreenSize(320, 240), pixelsPerInch: 96)
    let served = Monitor(false)
    let (name, cookie) = (try #require(server.display), server.cookie)
    try WorkerThread.detach(name: "program") {
      guard let size = try? XDisplay(name, cookie: cookie).size, size == ScreenSize(320, 240) else { return }
      served.change { $0 = true }
    }
    #expect(served.wait(atLatest: MonotonicClock.now + .seconds(30)) { $0 })
    withExtendedLifetime(display) {}
  }

  /// Other users of the machine see nothing of the program.
  @Test func onlyThoseWithTheCookieGetIn() throws {
    defer { end() }
    let name = try #require(server.display)
    _ = try XDisplay(name, cookie: server.cookie)
    #expect(throws: CarWindowError.self) { try XDisplay(name, cookie: [UInt8](repeating: 0, count: 16)) }
    let folder = URL(filePath: server.authority).deletingLastPathComponent().path
    for (path, permissions) in [(server.authority, 0o600), (folder, 0o700)] {
      var status = stat()
      #expect(stat(path, &status) == 0 && Int(status.st_mode) & 0o777 == permissions, "\(path)")
    }
  }

  /// Memory that stays behind a killed process would be lost to the machine.
  @Test func sharedMemoryGoesWithItsUsers() throws {
    defer { end() }
    let display = try connect()
    let capture = try ScreenCapture(display, showsPointer: false)
    #expect(try capture.take() != nil)
    // The permissions of those that this process has made; 1000 says that it goes with the last who has it attached.
    let permissions = {
      let table = (try? String(contentsOfFile: "/proc/sysvipc/shm", encoding: .utf8)) ?? ""
      let rows = table.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
      return rows.filter { $0.count > 4 && $0[4] == "\(getpid())" }.map { String($0[2]) }
    }
    #expect(!permissions().isEmpty)
    #expect(eventually { permissions().allSatisfy { $0 == "1600" } }, "\(permissions())")
    withExtendedLifetime(capture) {}
  }

  /// The number of processes that have the memory of each picture of this process with so many bytes attached.
  private func attachments(_ size: ScreenSize) -> [String] {
    let table = (try? String(contentsOfFile: "/proc/sysvipc/shm", encoding: .utf8)) ?? ""
    let rows = table.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
    return rows.filter { $0.count > 6 && $0[4] == "\(getpid())" && $0[3] == "\(size.width * size.height * 4)" }
      .map { String($0[6]) }
  }

  /// Neither this process nor the X server keeps the memory of a former size, or of a capture that has ended. A program
  /// that another test starts has it attached, too, for a moment.
  @Test func formerMemoryGoes() throws {
    defer { end() }
    let display = try connect()
    var capture: ScreenCapture? = try ScreenCapture(display, showsPointer: false)
    // No other test has these sizes.
    let (small, large) = (ScreenSize(322, 242), ScreenSize(638, 478))
    try display.setScreenSize(small, pixelsPerInch: 96)
    #expect(try capture?.take() != nil)
    #expect(eventually { attachments(small) == ["2"] })
    try display.setScreenSize(large, pixelsPerInch: 96)
    #expect(try capture?.take() != nil)
    #expect(eventually { attachments(small) == [] && attachments(large) == ["2"] })
    // A smaller picture fits into it.
    try display.setScreenSize(small, pixelsPerInch: 96)
    #expect(try capture?.take() != nil)
    #expect(eventually { attachments(small) == [] && attachments(large) == ["2"] })
    capture = nil
    // The request that asks also sends what was asked before.
    display.readSize()
    #expect(eventually { attachments(large) == [] })
  }
}
