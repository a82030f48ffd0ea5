import Foundation
import SDLHeadUnit
import SDLMessages
import Testing

@testable import CarWindow
@testable import Plugin
@testable import PluginTestSupport

/// What can be focused in a program, as haptic rectangles.
@Suite struct AccessibilityTests {
  @Test func buttonsBecomeHapticRectangles() throws {
    var configuration = HeadUnitConfiguration.small(320, 240)
    configuration.videoCapability?.hapticSpatialDataSupported = true
    let headUnit = try TestHeadUnit(configuration)
    let pipeline = try Pipeline(
      "sdlcarwindowsrc name=src command=\"\(program("buttons.py"))\" ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    let wanted: Set<[Double]> = [[20, 30, 100, 60], [150, 120, 100, 60]]
    try headUnit.wait(for: "rectangles of both buttons") { $0.hapticLists.last.map(Self.places) == wanted ? true : nil }
    // The second button disappears when the first one is pressed.
    for command in ["touch begin 0 70 60", "touch end 0 70 60"] {
      headUnit.server.perform(try #require(try HeadUnitCommand.parse(command)))
    }
    try headUnit.wait(for: "rectangle of one button") {
      $0.hapticLists.last.map(Self.places) == [[20, 30, 100, 60]] ? true : nil
    }
    #expect(headUnit.record.violations == [])
  }

  /// Toolkits look for a session bus before they publish anything.
  @Test func aProgramWithoutASessionBusGetsThisOne() throws {
    let bus = try AccessibilityBus([:])
    #expect(bus.variables(beside: [:])["DBUS_SESSION_BUS_ADDRESS"] == bus.address)
    #expect(bus.variables(beside: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/a"])["DBUS_SESSION_BUS_ADDRESS"] == nil)
  }

  /// A bus that warns of much goes on all the same.
  @Test func whatTheBusWritesIsDiscarded() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sdl-bus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = folder.appending(path: "dbus-daemon")
    // More than a pipe holds.
    let script = "#!/bin/sh\necho unix:\nhead -c 1000000 /dev/zero\ntouch \(folder.path)/done\nexec sleep 1000\n"
    // A shell writes it: nobody can run a file that is open for writing (ETXTBSY), and it would be so in each program that
    // another test starts meanwhile.
    let write = #"printf %s "$2" > "$1" && chmod 755 "$1""#
    let shell = try Process.run(
      URL(filePath: "/bin/sh"), arguments: ["-c", write, "sh", program.path, script])
    shell.waitUntilExit()
    try #require(shell.terminationStatus == 0)
    let bus = try AccessibilityBus(["PATH": "\(folder.path):/usr/bin:/bin"])
    defer { bus.end(within: .seconds(5)) }
    #expect(
      eventually {
        bus.discardOutput()
        return FileManager.default.fileExists(atPath: "\(folder.path)/done")
      })
  }

  private static func places(_ list: [HapticRectangle]) -> Set<[Double]> {
    Set(list.map { [$0.x, $0.y, $0.width, $0.height] })
  }

  @Test(arguments: [
    (ScreenArea(x: -10, y: 5, width: 30, height: 40), ScreenArea(x: 0, y: 5, width: 20, height: 40)),
    (ScreenArea(x: 310, y: 230, width: 30, height: 40), ScreenArea(x: 310, y: 230, width: 10, height: 10)),
    (ScreenArea(x: 320, y: 0, width: 30, height: 40), nil), (ScreenArea(x: -30, y: 0, width: 30, height: 40), nil),
    (ScreenArea(x: .max, y: 0, width: .max, height: 1), nil),
  ])
  func clipped(area: ScreenArea, result: ScreenArea?) {
    #expect(area.clipped(to: ScreenSize(320, 240)) == result)
  }

  @Test func readings() {
    var schedule = ReadingSchedule(now: .zero)
    let first = schedule.begin(now: .zero)
    #expect(first && schedule.next == .seconds(1))
    // After a change, but not too soon.
    let isSooner = (schedule.screenChanged(), schedule.screenChanged())
    #expect(isSooner == (true, false) && schedule.next == .milliseconds(500))
    let tooSoon = schedule.begin(now: .milliseconds(499))
    #expect(!tooSoon)
    // Again without a change, for programs that answer late, and then no more.
    var times: [Duration] = []
    while let next = schedule.next, times.count < 10 {
      times.append(next)
      let isDue = schedule.begin(now: next)
      #expect(isDue)
    }
    #expect(times == [500, 1500, 3500, 7500, 15_500].map { .milliseconds($0) })
    let again = schedule.screenChanged()
    #expect(again && schedule.next == .seconds(16))
  }
}
