@testable import SDLHeadUnit
import Testing

/// The command `shape`.
@Suite struct LinkShapeTests {
  private static func shape(_ change: (inout LinkShape) -> Void) -> HeadUnitCommand {
    var shape = LinkShape()
    change(&shape)
    return .shape(shape)
  }

  @Test(
    arguments: [
      ("shape off", .shape(nil)),
      ("shape up=600kbit", shape { $0.up = 600_000 }),
      ("shape down=1.5mbit", shape { $0.down = 1_500_000 }),
      ("shape up=10000bit  down=1000mbit", shape { ($0.up, $0.down) = (10_000, 1_000_000_000) }),
      ("shape delay=80ms jitter=0.02s", shape { ($0.delay, $0.jitter) = (.milliseconds(80), .milliseconds(20)) }),
      ("shape delay=0ms", shape { _ in }),
      ("shape delay=2s jitter=250ms", shape { ($0.delay, $0.jitter) = (.seconds(2), .milliseconds(250)) }),
      (
        "shape loss-stall=1ms/3ms",
        shape { $0.stalls = LinkShape.Stalls(duration: .milliseconds(1), interval: .milliseconds(3)) }
      ),
      (
        "shape loss-stall=10s/3600s",
        shape { $0.stalls = LinkShape.Stalls(duration: .seconds(10), interval: .seconds(3600)) }
      ),
      (
        "shape loss-stall=300ms/5s",
        shape { $0.stalls = LinkShape.Stalls(duration: .milliseconds(300), interval: .seconds(5)) }
      ),
    ] as [(String, HeadUnitCommand)])
  func reads(line: String, command: HeadUnitCommand) throws {
    #expect(try HeadUnitCommand.parse(line) == command)
  }

  @Test(arguments: [
    ("shape", "\"shape\" is not of the form shape [up=RATE]"),
    ("shape off up=1mbit", "\"off\" is no part of a road, which are up=RATE"),
    ("shape slow", "\"slow\" is no part of a road"),
    ("shape width=3", "a road has no \"width\", but up, down, delay, jitter and loss-stall"),
    ("shape up=1mbit up=2mbit", "up is there twice"),
    ("shape up=600", "up=600 is no rate from 10kbit to 1000mbit"),
    ("shape up=600kb", "up=600kb is no rate"), ("shape up=", "up= is no rate"), ("shape up=-1mbit", "up=-1mbit is no"),
    ("shape up=infmbit", "up=infmbit is no rate"), ("shape down=9999bit", "down=9999bit is no rate"),
    ("shape down=1001mbit", "down=1001mbit is no rate"), ("shape down=1e300mbit", "down=1e300mbit is no rate"),
    ("shape delay=80", "delay=80 is no time from 0ms to 2000ms, such as 80ms"),
    ("shape delay=2.1s", "delay=2.1s is no time"), ("shape jitter=251ms", "jitter=251ms is no time from 0ms to 250ms"),
    ("shape loss-stall=300ms", "loss-stall=300ms is no stall from 1ms to 10s and the time between two"),
    ("shape loss-stall=0ms/5s", "loss-stall=0ms/5s is no stall"),
    ("shape loss-stall=11s/60s", "loss-stall=11s/60s is no stall"),
    ("shape loss-stall=1s/4000s", "loss-stall=1s/4000s is no stall"),
    ("shape loss-stall=1s/2s", "loss-stall=1s/2s leaves nothing between"),
  ])
  func errors(line: String, message: String) {
    let error = #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }
}
