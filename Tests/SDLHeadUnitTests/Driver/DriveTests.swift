@testable import SDLHeadUnit
import SDLMessages
import Testing

/// GPX files, and the drives along them, in virtual time.
@Suite struct DriveTests {
  private static let start = Duration.seconds(100)

  /// A square of 111 m, a side in ten seconds.
  private static let square = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- <wpt lat="9" lon="9"/> -->
    <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">
      <metadata><time>2020-01-01T00:00:00Z</time></metadata>
      <wpt lat="50" lon="50"><name>not on the way</name></wpt>
      <trk><name>Square</name><trkseg>
        <trkpt lat="0" lon="0"><ele>35.5</ele><time>2024-02-29T23:59:30Z</time></trkpt>
        <trkpt lat='0.0' lon='1e-3'><ele> -12 </ele><time>2024-02-29T23:59:40.000Z</time></trkpt>
        <trkpt lon="0.001" lat="0.001" ><time>2024-03-01T01:59:50+02:00</time><ele>20000</ele></trkpt>
      </trkseg><trkseg>
        <trkpt lat="0.001" lon="0"><time>2024-03-01T00:00:00Z</time></trkpt>
        <trkpt lat="0" lon="0"><time>2024-03-01T00:00:10</time></trkpt>
      </trkseg></trk>
    </gpx>

    """

  private func track(_ text: String) throws -> GPXTrack { try GPXTrack(Array(text.utf8)) }

  /// The readings that are due, each with its name.
  private func take(_ drive: inout Drive, after time: Duration) -> [VehicleReading] {
    var readings: [VehicleReading] = []
    while let reading = drive.takeDue(at: Self.start + time) { readings.append(reading) }
    return readings
  }

  @Test func points() throws {
    let points = try track(Self.square).points
    #expect(points.map(\.latitude) == [0, 0, 0.001, 0.001, 0])
    #expect(points.map(\.longitude) == [0, 0.001, 0.001, 0, 0])
    #expect(points.map(\.elevation) == [35.5, -12, 20_000, nil, nil])
    #expect(points.map(\.offset) == [0, 10, 20, 30, 40])
    #expect(points.first?.time == 1_709_251_170)
  }

  @Test func readings() throws {
    var drive = Drive(try track(Self.square), factor: 1, start: Self.start)
    var seen: [(gps: JSONObject, speed: Double)] = []
    for second in 0...4 {
      #expect(drive.nextDeadline == Self.start + .seconds(second * 10))
      #expect(take(&drive, after: .seconds(second * 10) - .milliseconds(1)).isEmpty)
      let readings = take(&drive, after: .seconds(second * 10))
      #expect(readings.map(\.name) == ["gps", "speed"])
      seen.append((readings.first?.value.object ?? [:], readings.last?.value.number ?? -1))
    }
    #expect(drive.nextDeadline == nil)
    #expect(seen.map { $0.gps["heading"]?.number } == [90, 0, 270, 180, 180])
    #expect(seen.map(\.speed) == [40.03, 40.03, 40.03, 40.03, 0])
    // 20 km are no altitude of the specification.
    #expect(seen.map { $0.gps["altitude"]?.number } == [35.5, -12, nil, nil, nil])
    let fields = ["utcYear", "utcMonth", "utcDay", "utcHours", "utcMinutes", "utcSeconds"]
    #expect(fields.map { seen[0].gps[$0] } == [2024, 2, 29, 23, 59, 30].map { .integer($0) })
    #expect(fields.map { seen[3].gps[$0] } == [2024, 3, 1, 0, 0, 0].map { .integer($0) })
  }

  /// What the track says is not computed; elements of other namespaces count by their names.
  @Test func speedAndCourseOfTheTrack() throws {
    let text = """
      <gpx><rte>
      <rtept lat="1" lon="1"><extensions><a:b><a:speed>10</a:speed><a:course>359.999</a:course></a:b>
      </extensions></rtept>
      <rtept lat="1" lon="1"/></rte></gpx>
      """
    var drive = Drive(try track(text), factor: 1, start: Self.start)
    let readings = take(&drive, after: .zero)
    #expect(readings.first?.value.object?["heading"]?.number == 0 && readings.last?.value.number == 36)
    #expect(readings.first?.value.object?["utcYear"] == nil)
    // A second later without times; a car that does not move keeps its heading.
    #expect(drive.nextDeadline == Self.start + .seconds(1))
    let last = take(&drive, after: .seconds(1))
    #expect(last.first?.value.object?["heading"]?.number == 0 && last.last?.value.number == 0)
  }

  /// Far more than a script may have steps; faster than the track, and late.
  @Test func longDrive() throws {
    let points = (0..<2000).map { "<trkpt lat=\"\(Double($0) / 10_000)\" lon=\"8\"/>" }
    let track = try track("<gpx><trk><trkseg>\(points.joined())</trkseg></trk></gpx>")
    var drive = Drive(track, factor: 10, start: Self.start)
    var count = 0
    while let deadline = drive.nextDeadline {
      let late = deadline - Self.start - .milliseconds(100 * count)
      #expect((Duration.microseconds(-1) ... .microseconds(1)).contains(late))
      #expect(take(&drive, after: deadline - Self.start).count == 2)
      count += 1
    }
    #expect(count == 2000)
    // A car that nobody could look after is at the last place that is due.
    drive = Drive(track, factor: 10, start: Self.start)
    let late = take(&drive, after: .milliseconds(150_050))
    #expect(late.count == 2 && late.first?.value.object?["latitudeDegrees"]?.number == 0.15)
  }

  /// Points without a time are a second after the one before; none goes back.
  @Test func someTimes() throws {
    let times = ["", "", "2024-01-01T00:00:10Z", "", "2024-01-01T00:00:10.5Z", "2024-01-01T00:01:00Z"]
    let points = times.map { "<wpt lat=\"1\" lon=\"1\">\($0.isEmpty ? "" : "<time>\($0)</time>")</wpt>" }
    let track = try track("<gpx>\(points.joined())</gpx>")
    #expect(track.points.map(\.offset) == [0, 1, 2, 3, 3, 52])
  }

  @Test(
    arguments: [
      ("", 1, "this is no GPX file"), ("{}", 1, "there is text outside of <gpx>"),
      ("<html></html>", 1, "this is no GPX file"), ("<gpx></gpx><gpx></gpx>", 1, "this is no GPX file"),
      ("<gpx>\n</gpx>", 2, "there are no points"), ("<gpx>\n<trk>\n", 3, "the file ends within <trk>"),
      ("<gpx>\n</trk></gpx>", 2, "</trk> ends nothing; <gpx> is open"), ("</gpx>", 1, "</gpx> ends nothing"),
      ("<gpx><wpt lat=\"1\"", 1, "the file ends within an element"),
      ("<gpx><wpt lat=\"1", 1, "the value of lat does not end"),
      ("<gpx><wpt lat=1 lon=2/></gpx>", 1, "the value of lat is not in quotation marks"),
      ("<gpx><wpt lat lon=\"2\"/></gpx>", 1, "= is missing after lat"),
      ("<gpx>\n\n<wpt lat=\"1\"/></gpx>", 3, "a point needs lat and lon"),
      ("<gpx>\n<wpt lat=\"x\" lon=\"2\"/>\n</gpx>", 2, "\"x\" is no latitude"),
      ("<gpx><wpt lat=\"91\" lon=\"2\"/></gpx>", 1, "\"91\" is no latitude from -90 to 90"),
      ("<gpx><wpt lat=\"1\" lon=\"-180.1\"/></gpx>", 1, "\"-180.1\" is no longitude from -180 to 180"),
      ("<gpx><wpt lat=\"nan\" lon=\"2\"/></gpx>", 1, "\"nan\" is no latitude"),
      ("<gpx><wpt lat=\"0x1\" lon=\"2\"/></gpx>", 1, "\"0x1\" is no latitude"),
      ("<gpx><wpt lat=\"&#49;\" lon=\"2\"/></gpx>", 1, "\"&#49;\" is no latitude"),
      ("<gpx><wpt lat=\"1\" lon=\"2\"><ele>high</ele></wpt></gpx>", 1, "\"high\" is no elevation"),
      ("<gpx><wpt lat=\"1\" lon=\"2\"><ele/></wpt></gpx>", 1, "\"\" is no elevation"),
      ("<gpx><wpt lat=\"1\" lon=\"2\">\n<time>noon</time></wpt></gpx>", 2, "\"noon\" is no time such as 2024"),
      ("<gpx><wpt lat=\"1\" lon=\"2\"><time>2024-13-01T00:00:00Z</time></wpt></gpx>", 1, "\"2024-13-01T00"),
      ("<gpx><wpt lat=\"1\" lon=\"2\"><wpt lat=\"1\" lon=\"2\"/></wpt></gpx>", 1, "a point is in a point"),
      (
        "<gpx><wpt lat=\"1\" lon=\"2\"><time>2024-01-02T00:00:00Z</time></wpt>\n"
          + "<wpt lat=\"1\" lon=\"2\"><time>2024-01-01T00:00:00Z</time></wpt></gpx>", 2, "the time is before that of"
      ),
      ("<!DOCTYPE gpx [<!ENTITY a \"aaaa\">]><gpx/>", 1, "a document type is not read"),
      ("<!-- <gpx/>", 1, "a comment does not end"), ("<gpx><![CDATA[", 1, "a CDATA section does not end"),
      ("<?xml ", 1, "a declaration does not end"), ("<gpx>< /gpx>", 1, "a name is missing"),
      ("<gpx/ >", 1, "> is missing after /"), ("<gpx></gpx x>", 1, "> is missing after </gpx"),
      (
        "<gpx>" + String(repeating: "<a>", count: 64), 1, "there are more than 64 elements in each other"
      ),
    ] as [(String, Int, String)])
  func malformed(text: String, line: Int, message: String) {
    let error = #expect(throws: MalformedLine.self) { try track(text) }
    #expect(error?.line == line, "\(text.prefix(200))")
    #expect(error?.description.hasPrefix("line \(line): \(message)") == true, "\(error?.description ?? "")")
  }

  @Test func bounds() throws {
    #expect(throws: MalformedLine(line: 1, text: "a track has at most 64 MiB")) {
      try GPXTrack([UInt8](repeating: 0x20, count: GPXTrack.maximumByteCount + 1))
    }
    let text = "<gpx>\(String(repeating: "<wpt lat='0' lon='0'/>", count: 4))</gpx>"
    #expect(try GPXTrack(Array(text.utf8), atMost: 4).points.count == 4)
    #expect(throws: MalformedLine(line: 1, text: "a track has at most 3 points")) {
      try GPXTrack(Array(text.utf8), atMost: 3)
    }
  }

  // MARK: The command

  @Test(
    arguments: [
      ("drive a.gpx", .drive(DriveTask(file: "a.gpx"))), ("drive off", .drive(nil)),
      ("drive \"my track.gpx\" speed 2.5", .drive(DriveTask(file: "my track.gpx", factor: 2.5))),
    ] as [(String, HeadUnitCommand)])
  func reads(line: String, command: HeadUnitCommand) throws {
    #expect(try HeadUnitCommand.parse(line) == command)
  }

  @Test(arguments: [
    "drive", "drive a.gpx speed", "drive a.gpx speed 0", "drive a.gpx speed 1001", "drive a.gpx speed nan",
    "drive a.gpx fast 2", "drive a.gpx b.gpx", "drive \"\"", "drive \"a.gpx",
  ])
  func refuses(line: String) {
    #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
  }

  /// A drive is one step, beside which others go on; another one, or its end, replaces it.
  @Test func inAScript() throws {
    var run = HeadUnitScriptRun(try HeadUnitScript("at 0: drive a.gpx\nat 10: cut"), now: Self.start)
    func drive(_ task: DriveTask?, at time: Duration = Self.start) {
      run.begin(HeadUnitScriptRun.ScheduledCommand(command: .drive(task)), now: time)
    }
    func due(after seconds: Int) -> [HeadUnitScriptRun.ScheduledCommand] {
      var commands: [HeadUnitScriptRun.ScheduledCommand] = []
      while let due = run.takeDue(at: Self.start + .seconds(seconds)) {
        commands.append(due)
        if case .drive(let task?) = due.command, let track = try? track(Self.square) { drive(task.with(track)) }
      }
      return commands
    }
    func names(_ commands: [HeadUnitScriptRun.ScheduledCommand]) -> [String] {
      commands.map { if case .vehicle(let reading) = $0.command { reading.name } else { "step" } }
    }
    let first = due(after: 0)
    #expect(names(first) == ["step", "gps", "speed"] && first.last?.step == nil)
    #expect(run.nextDeadline == Self.start + .seconds(10))
    #expect(names(due(after: 10)).sorted() == ["gps", "speed", "step"])
    drive(nil, at: Self.start + .seconds(15))
    #expect(run.nextDeadline == nil && due(after: 20).isEmpty)
    // Without a file that was read, there is no drive.
    drive(DriveTask(file: "a.gpx"))
    #expect(run.nextDeadline == nil)
  }

  @Test func spacesWithinElements() throws {
    let text = "<gpx >\n<wpt  lat = '1'\n\tlon =\t\"2\" ><ele >3</ele >\r\n</wpt >\n<wpt lat='4' lon='5' /></gpx >"
    let points = try track(text).points
    #expect(points.map(\.latitude) == [1, 4] && points.map(\.longitude) == [2, 5])
    #expect(points.map(\.elevation) == [3, nil])
  }

  @Test(arguments: [(64, true), (65, false)]) func longestNumber(count: Int, isTaken: Bool) {
    let number = "0." + String(repeating: "0", count: count - 3) + "1"
    let track = try? track("<gpx><wpt lat='\(number)' lon='0'/></gpx>")
    #expect((track != nil) == isTaken)
  }
}
