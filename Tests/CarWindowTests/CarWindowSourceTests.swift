import CGStreamerApp
import Foundation
import GStreamerKit
import SDLLink
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct CarWindowSourceTests {
  private static let canvas = "command=\"\(program("canvas.py"))\""

  @Test func theWindowFillsTheSizeThatDownstreamWants() throws {
    let screen = try ScreenPipeline(Self.canvas, width: 640, height: 360)
    let picture = try screen.waitForCanvas()
    #expect(picture.width == 640 && picture.height == 360 && picture[320, 180] == .blue)
  }

  @Test func theWindowFollowsResizes() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    for (width, height) in [(640, 480), (200, 400), (322, 242)] {
      try screen.setSize(width, height)
      try screen.wait(for: "\(width)×\(height)") {
        $0.width == width && $0.height == height && $0.corners.allSatisfy { $0 == .blue }
      }
    }
  }

  @Test func resizesAreFollowedAtOnce() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    let began = MonotonicClock.now
    for index in 0..<10 {
      let width = index.isMultiple(of: 2) ? 400 : 320
      try screen.setSize(width, 240)
      try screen.wait(for: "resize \(index)") { $0.width == width }
    }
    // Waiting for the picture that comes once a second would take 10 s.
    #expect(MonotonicClock.now - began < .seconds(8))
  }

  /// Larger than the screen may become: enlarged, with its shape.
  @Test func aLargerPictureIsScaled() throws {
    let screen = try ScreenPipeline("\(Self.canvas) max-width=200 max-height=100", width: 400, height: 240)
    let picture = try screen.wait(for: "scaled screen") { $0[200, 120] == .blue }
    #expect(picture[200, 25] == .blue && picture[200, 10] != .blue && picture[200, 230] != .blue)
    screen.tap(200, 120)
    try screen.wait(for: "tap") { $0[200, 120] == .red && $0[200, 200] == .blue }
  }

  @Test func tapsAndButtonsLandWhereTheyAre() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    screen.tap(100, 80)
    try screen.wait(for: "tap") { $0[100, 80] == .red && $0[85, 65] == .red && $0[130, 80] == .blue }
    screen.send(gst_navigation_event_new_mouse_button_press(1, 250, 200, GstNavigationModifierType(rawValue: 0)))
    screen.send(gst_navigation_event_new_mouse_button_release(1, 250, 200, GstNavigationModifierType(rawValue: 0)))
    try screen.wait(for: "button") { $0[250, 200] == .red && $0[100, 80] == .red }
  }

  /// Each soon after the picture before, which is the time in which the next one must not be taken yet.
  @Test func changesThatFollowEachOtherAreSeenAtOnce() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    let began = MonotonicClock.now
    for index in 0..<20 {
      let (x, y) = (25 + 60 * (index % 5), 25 + 55 * (index / 5))
      screen.tap(Double(x), Double(y))
      try screen.wait(for: "tap \(index)") { $0[x, y] == .red }
    }
    // Waiting for the picture that comes once a second would take 20 s.
    #expect(MonotonicClock.now - began < .seconds(16))
  }

  @Test func twoFingersTurnTheWheelAndPinch() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    let none = GstNavigationModifierType(rawValue: 0)
    screen.send(gst_navigation_event_new_touch_down(0, 100, 100, 1, none))
    screen.send(gst_navigation_event_new_touch_down(1, 200, 100, 1, none))
    for (id, x): (guint, gdouble) in [(0, 100), (1, 200)] {
      screen.send(gst_navigation_event_new_touch_motion(id, x, 180, 1, none))
    }
    try screen.wait(for: "wheel") { $0[2, 2] == .white }
    screen.send(gst_navigation_event_new_touch_motion(0, 50, 180, 1, none))
    screen.send(gst_navigation_event_new_touch_motion(1, 300, 180, 1, none))
    try screen.wait(for: "pinch") { $0[2, 2] == .cyan }
  }

  @Test func thePointerIsInThePicture() throws {
    let screen = try ScreenPipeline("\(Self.canvas) show-pointer=true")
    // It begins in a corner.
    try screen.wait(for: "window") { $0.corners.prefix(3).allSatisfy { $0 == .blue } }
    let around = { (picture: ScreenPipeline.Picture) in
      (155...165).flatMap { x in (115...130).map { picture[x, $0] } }
    }
    let none = GstNavigationModifierType(rawValue: 0)
    screen.send(gst_navigation_event_new_mouse_move(160, 120, none))
    try screen.wait(for: "pointer") { around($0).contains { $0 != .blue } }
    // At the edge, where a part of it is outside.
    screen.send(gst_navigation_event_new_mouse_move(319, 239, none))
    try screen.wait(for: "no pointer") { around($0).allSatisfy { $0 == .blue } }
  }

  /// A capital letter is one with Shift, and the next key is without it.
  @Test func keysAreKeys() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    screen.press("W")
    try screen.waitForCanvas(.white)
    screen.press("g")
    try screen.waitForCanvas(.green)
  }

  @Test func dialogsStandInTheMiddle() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    screen.press("d")
    let picture = try screen.wait(for: "dialog") { $0[160, 120] == .yellow }
    #expect(picture.corners.allSatisfy { $0 == .blue } && picture[160, 60] == .blue)
  }

  /// Wherever the pointer is: X would give them to the window that it is in.
  @Test func keysGoToTheWindowBelowAClosedDialog() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    screen.send(gst_navigation_event_new_mouse_move(40, 200, GstNavigationModifierType(rawValue: 0)))
    screen.press("d")
    try screen.wait(for: "dialog") { $0[160, 120] == .yellow }
    screen.press("d")
    try screen.wait(for: "dialog of the dialog") { $0[110, 120] == .white && $0[160, 120] == .white }
    screen.press("x")
    try screen.wait(for: "first dialog again") { $0[110, 120] == .blue && $0[160, 120] == .yellow }
    screen.press("g")
    let picture = try screen.wait(for: "green") { $0[160, 120] == .green || $0.corners[0] == .green }
    #expect(picture[160, 120] == .green && picture.corners.allSatisfy { $0 == .blue })
  }

  @Test func theEndOfTheProgramIsTheEndOfTheStream() throws {
    let screen = try ScreenPipeline(Self.canvas)
    try screen.waitForCanvas()
    // Later than the time in which a program that shows nothing has failed.
    screen.press("q")
    let message = try screen.pipeline.waitForElementMessage("sdl-program-ended")
    #expect(message["exit-status"] == "7" && message["restarts"]?.lowercased() == "false", "\(message)")
    try screen.pipeline.waitForEnd()
    #expect(screen.source["exit-status"] == "7" && screen.source["pid"] == "0")
  }

  /// Adds the names of the properties whose changes are notified from now on.
  private static func observe(_ source: Element, _ properties: Monitor<[String]>) {
    let handler: @convention(c) (gpointer?, UnsafeMutablePointer<GParamSpec>?, gpointer?) -> Void = {
      _, property, data in
      guard let property, let data else { return }
      let name = String(cString: property.pointee.name)
      Unmanaged<Monitor<[String]>>.fromOpaque(data).takeUnretainedValue().withLock { $0.append(name) }
    }
    g_signal_connect_data(
      source.pointer, "notify", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passRetained(properties).toOpaque(),
      { data, _ in if let data { Unmanaged<Monitor<[String]>>.fromOpaque(data).release() } },
      GConnectFlags(rawValue: 0))
  }

  /// Each of these has another value then, before the message of the end.
  @Test func notificationsOfTheProgram() throws {
    let properties = Monitor<[String]>([])
    let screen = try ScreenPipeline(Self.canvas) { Self.observe($0, properties) }
    try screen.waitForCanvas()
    #expect(eventually { properties.withLock { $0 } == ["display-name", "pid"] })
    screen.press("q")
    try screen.pipeline.waitForElementMessage("sdl-program-ended")
    #expect(properties.withLock { $0 } == ["display-name", "pid", "pid", "exit-status"])
  }

  @Test(arguments: [
    ("sh -c 'echo no such map >&2; exit 3'", "status 3", "no such map"),
    ("sh -c 'yes | head -c 300000; echo no such map >&2; exit 3'", "status 3", "no such map"),
    ("no-such-program", "'no-such-program' can't be started", "No such file"),
  ])
  func aProgramThatShowsNothingIsAnError(command: String, reason: String, line: String) throws {
    let screen = try ScreenPipeline("command=\"\(command)\"")
    let error = try screen.pipeline.waitForError()
    #expect(error.text.contains(reason) && error.text.contains(line), "\(error)")
  }

  @Test func aProgramThatIsStartedAgain() throws {
    let screen = try ScreenPipeline("restart=true command=\"sh -c 'echo no such map; exit 3'\"")
    for _ in 0..<2 {
      let message = try screen.pipeline.waitForElementMessage("sdl-program-ended")
      // Its own last words, and not those of the one before.
      #expect(message["exit-status"] == "3" && message["output"]?.ranges(of: "no such map").count == 1, "\(message)")
      #expect(message["restarts"]?.lowercased() == "true", "\(message)")
    }
    // Another one may replace it meanwhile.
    screen.source.set("command", program("canvas.py"))
    try screen.waitForCanvas()
    // As long as one runs, it has none.
    #expect(screen.source["exit-status"] == "-1")
    screen.press("q")
    #expect(try screen.pipeline.waitForElementMessage("sdl-program-ended")["exit-status"] == "7")
    try screen.waitForCanvas()
    #expect(eventually { screen.source["exit-status"] == "-1" })
    #expect(!screen.pipeline.drain().contains { $0.error != nil || $0.kind == .endOfStream })
  }

  /// Tool tips of what was touched would stay on the screen.
  @Test func thePointerLeavesAfterATouch() throws {
    let screen = try ScreenPipeline("command=\"\(program("canvas.py")) hover\"")
    try screen.waitForCanvas()
    let none = GstNavigationModifierType(rawValue: 0)
    screen.send(gst_navigation_event_new_touch_down(0, 100, 80, 1, none))
    try screen.waitForCanvas(.green)
    screen.send(gst_navigation_event_new_touch_up(0, 100, 80, none))
    try screen.waitForCanvas(.blue)
    // A mouse stays, although it comes before the pointer would have left after a touch.
    screen.send(gst_navigation_event_new_touch_down(0, 200, 200, 1, none))
    try screen.wait(for: "pointer") { $0[2, 2] == .green }
    screen.send(gst_navigation_event_new_touch_up(0, 200, 200, none))
    screen.send(gst_navigation_event_new_mouse_move(200, 80, none))
    _ = screen.countPictures(for: .seconds(2))
    screen.press("h")
    try screen.wait(for: "sign of the pointer") { $0[160, 120] == .yellow && $0[2, 2] == .green }
  }

  /// A larger screen has another corner, where the pointer is on no window; one that is on a window stays.
  @Test(arguments: [false, true]) func thePointerStaysOutsideOrInside(isInside: Bool) throws {
    let screen = try ScreenPipeline("command=\"\(program("canvas.py")) hover\"")
    try screen.waitForCanvas()
    if isInside {
      screen.send(gst_navigation_event_new_mouse_move(100, 80, GstNavigationModifierType(rawValue: 0)))
      try screen.waitForCanvas(.green)
    }
    // Of another shape, so that the window does not fill a picture of the smaller screen.
    try screen.setSize(640, 360)
    try screen.wait(for: "larger screen") {
      $0.width == 640 && $0.corners.allSatisfy { [.blue, .green].contains($0) }
    }
    // What the program hears of the pointer comes before the key.
    screen.press("h")
    try screen.wait(for: "sign of the pointer") {
      $0[320, 180] == .yellow && $0[100, 80] == (isInside ? .green : .blue)
    }
  }

  /// It is seen as a whole, until it can be as small as the picture.
  @Test func aWindowThatIsLargerThanThePicture() throws {
    let screen = try ScreenPipeline("command=\"\(program("canvas.py")) large\"")
    try screen.wait(for: "whole window") {
      $0[317, 237] == .yellow && $0[303, 223] == .yellow && $0[296, 216] == .blue && $0[2, 2] == .blue
    }
    screen.tap(100, 80)
    try screen.wait(for: "tap") {
      $0[93, 80] == .red && $0[107, 80] == .red && $0[86, 80] == .blue && $0[100, 66] == .blue
    }
    screen.press("s")
    try screen.wait(for: "small window") { $0[200, 160] == .red && $0[100, 80] == .blue && $0[318, 238] == .blue }
  }

  @Test func withoutCommandAndDisplayItDoesNotStart() throws {
    let pipeline = try Pipeline("sdlcarwindowsrc ! fakesink")
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    #expect(try pipeline.waitForError().text.contains("command"))
  }

  @Test(arguments: [("command", "xclock 'never ends"), ("environment", "NOVALUE")])
  func whatIsNoCommandIsRefused(property: String, value: String) throws {
    let pipeline = try Pipeline("sdlcarwindowsrc name=src ! fakesink")
    let source = try pipeline["src"]
    source.set(property, value)
    #expect(source[property] == nil)
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    #expect(try pipeline.waitForError().text.contains("The property \(property) was not changed"))
  }

  @Test func anotherCommandTakesTheScreen() throws {
    let screen = try ScreenPipeline("command=\"sh -c 'exec xclock -bg white -fg white -hd white'\"")
    try screen.waitForCanvas(.white)
    let former = try #require(Int32(screen.source["pid"] ?? ""))
    screen.source.set("command", program("canvas.py"))
    try screen.waitForCanvas(.blue)
    #expect(eventually { !isRunning(former) })
    #expect(screen.source["exit-status"] == "-1" && Int32(screen.source["pid"] ?? "") != former)
  }

  /// Downstream may take seconds to tell the size, as a sink that connects does.
  @Test func aCommandSetBeforeThereIsAScreenReplacesTheFirst() throws {
    let screen = try ScreenPipeline("command=no-such-program") { $0.set("command", program("canvas.py")) }
    try screen.waitForCanvas()
  }

  /// It is kept until the program is due, and started once.
  @Test func aCommandSetBeforeItIsShownWaits() throws {
    let screen = try ScreenPipeline("start=when-shown command=no-such-program")
    try screen.wait(for: "empty screen") { _ in true }
    let properties = Monitor<[String]>([])
    Self.observe(screen.source, properties)
    screen.source.set("command", program("canvas.py"))
    // The window takes orders together, and a picture of another size comes after it has taken the command. Pictures
    // keep their distance, in which a program that was started would have been reported.
    for width in [330, 340, 350, 320] {
      try screen.setSize(width, 240)
      try screen.wait(for: "width of \(width)") { $0.width == width }
    }
    #expect(screen.source["pid"] == "0")
    screen.send(StreamStateEvent.make(.streaming)?.take())
    try screen.waitForCanvas()
    #expect(properties.withLock { $0 }.filter { $0 == "pid" } == ["pid"])
  }

  @Test func aStillProgramSendsAPictureASecond() throws {
    let screen = try ScreenPipeline("command=\"xclock -update 3600\"")
    try screen.wait(for: "clock") { picture in picture.bytes.contains(0) && picture.bytes.contains(255) }
    // What it still draws at its start.
    _ = screen.countPictures(for: .seconds(1))
    #expect((2...10).contains(screen.countPictures(for: .seconds(4))))
  }
}
