import SDLMessages
import Testing

@testable import HeadUnitControl

/// What is kept of what an app shows.
@Suite struct AppScreenTests {
  private var screen = AppScreen(keepsImages: true)
  private var correlationID: Int32 = 0

  private mutating func send(_ function: FunctionID, _ members: JSONObject, bulk: [UInt8] = []) {
    correlationID += 1
    screen.note(
      RPCMessage(
        type: .request, function: function, correlationID: correlationID, parameters: members, bulk: bulk))
  }

  private mutating func answer(_ function: FunctionID, _ id: Int32) {
    screen.note(
      RPCMessage(type: .response, function: function, correlationID: id, parameters: ["success": .bool(true)]))
  }

  /// A request that succeeds.
  private mutating func perform(_ function: FunctionID, _ members: JSONObject, bulk: [UInt8] = []) {
    send(function, members, bulk: bulk)
    answer(function, correlationID)
  }

  private mutating func addCommand(_ id: Int, _ byteCount: Int) {
    perform(.addCommand, ["cmdID": .integer(id), "text": .string(String(repeating: "a", count: byteCount))])
  }

  private var commands: [Int] {
    (screen.json["commands"]?.array ?? []).compactMap { $0.object?["cmdID"]?.integer }
  }

  /// A mebibyte of commands; what is deleted, or replaced by less, makes room.
  @Test mutating func commandsAsFarAsThereIsRoom() {
    for id in 1...4 { addCommand(id, 300_000) }
    #expect(commands == [1, 2, 3])
    perform(.deleteCommand, ["cmdID": .integer(1)])
    for id in 5...6 { addCommand(id, 300_000) }
    #expect(commands == [2, 3, 5])
    addCommand(2, 10)
    addCommand(6, 300_000)
    #expect(commands == [2, 3, 5, 6])
  }

  /// The head unit of an app that sends faster than it is answered, or not at all.
  @Test mutating func requestsWithoutAnAnswer() {
    for id in 1...17 { send(.addCommand, ["cmdID": .integer(id)]) }
    for id in 1...17 { answer(.addCommand, Int32(id)) }
    #expect(commands == Array(2...17))
    // An answer is that of one request.
    perform(.deleteCommand, ["cmdID": .integer(2)])
    answer(.addCommand, 2)
    #expect(commands == Array(3...17))
  }

  @Test mutating func membersOfShow() {
    let names = (0..<100).map { "member\($0)" }
    perform(.show, JSONObject(uniqueKeysWithValues: names.map { ($0, .string("a")) }))
    #expect(screen.shows.count == 64)
    // Those that are there change.
    perform(.show, screen.shows.mapValues { _ in .string("b") })
    #expect(screen.shows.count == 64 && screen.shows.values.allSatisfy { $0 == .string("b") })
  }

  /// Requests are within the limit of messages each.
  @Test mutating func largeMembersOfShow() {
    for number in 0..<20 {
      perform(.show, ["member\(number)": .string(String(repeating: "a", count: 500_000))])
    }
    #expect(screen.shows.serialized.count < 2 << 20 && screen.shows["member0"] != nil)
    // There is room for a usual one once a large one gives way.
    perform(.show, ["member0": .string("a")])
    perform(.show, ["mainField1": .string("b")])
    #expect(screen.shows["mainField1"] == .string("b"))
  }

  private var timer: [Double?] {
    let timer = screen.json["timer"]?.object
    return [timer?["rate"]?.number, timer?["end"]?.number]
  }

  private mutating func setTimer(_ mode: String, _ members: JSONObject = [:]) {
    perform(.setMediaClockTimer, members.merging(["updateMode": .string(mode)]) { $1 })
  }

  @Test mutating func clock() throws {
    setTimer(
      "COUNTUP", ["startTime": .object(["minutes": .integer(2)]), "endTime": .object(["hours": .integer(1)])])
    #expect(timer == [1, 3600])
    #expect(try #require(screen.json["timer"]?.object?["seconds"]?.number) >= 120)
    setTimer("PAUSE")
    #expect(timer == [0, 3600])
    setTimer("RESUME")
    #expect(timer == [1, 3600])
    setTimer("COUNTDOWN", ["startTime": .object(["seconds": .integer(30)]), "countRate": .number(0.5)])
    setTimer("PAUSE")
    // It stands, also if it is told so twice.
    setTimer("PAUSE")
    let position = try #require(screen.json["timer"]?.object?["seconds"]?.number)
    #expect(position <= 30 && screen.json["timer"]?.object?["seconds"]?.number == position)
    setTimer("RESUME")
    #expect(timer == [-0.5, 3600])
    setTimer("CLEAR")
    #expect(screen.json["timer"] == nil)
  }

  private func ids(_ list: String, _ member: String) -> [Int] {
    (screen.json[list]?.array ?? []).compactMap { $0.object?[member]?.integer }
  }

  /// In the order of their ids, without those that are deleted.
  @Test mutating func menusAndChoices() throws {
    for id in [7, 3, 5] {
      perform(.addSubMenu, ["menuID": .integer(id)])
      perform(
        .createInteractionChoiceSet,
        ["interactionChoiceSetID": .integer(id), "choiceSet": .array([.string("choice \(id)")])])
    }
    #expect(ids("submenus", "menuID") == [3, 5, 7] && commands == [])
    perform(.deleteSubMenu, ["menuID": .integer(5)])
    perform(.deleteInteractionChoiceSet, ["interactionChoiceSetID": .integer(3)])
    #expect(ids("submenus", "menuID") == [3, 7])
    let sets = try #require(screen.json["choiceSets"]?.object)
    #expect(sets == ["5": .array([.string("choice 5")]), "7": .array([.string("choice 7")])])
  }

  /// What is set stays until it is set again, or reset.
  @Test mutating func globalProperties() {
    perform(.setGlobalProperties, ["menuTitle": .string("Menu"), "vrHelpTitle": .string("Help"), "other": .bool(true)])
    perform(.setGlobalProperties, ["menuTitle": .string("Other")])
    #expect(screen.json["properties"]?.object == ["menuTitle": .string("Other"), "vrHelpTitle": .string("Help")])
    perform(.resetGlobalProperties, ["properties": .array([.string("VRHELPTITLE"), .string("HELPPROMPT")])])
    #expect(screen.json["properties"]?.object == ["menuTitle": .string("Other")])
  }

  /// `GlobalProperty` of the RPC specification, and the members of SetGlobalProperties.
  @Test(arguments: [
    ("HELPPROMPT", "helpPrompt"), ("TIMEOUTPROMPT", "timeoutPrompt"), ("VRHELPTITLE", "vrHelpTitle"),
    ("VRHELPITEMS", "vrHelp"), ("MENUNAME", "menuTitle"), ("MENUICON", "menuIcon"),
    ("KEYBOARDPROPERTIES", "keyboardProperties"), ("USER_LOCATION", "userLocation"),
  ])
  mutating func eachResetProperty(name: String, member: String) {
    let members = [
      "helpPrompt", "timeoutPrompt", "vrHelpTitle", "vrHelp", "menuTitle", "menuIcon", "keyboardProperties",
      "userLocation", "menuLayout",
    ]
    let all = JSONObject(uniqueKeysWithValues: members.map { ($0, .string("a")) })
    perform(.setGlobalProperties, all)
    #expect(screen.json["properties"]?.object == all)
    perform(.resetGlobalProperties, ["properties": .array([.string(name)])])
    #expect(screen.json["properties"]?.object == all.filter { $0.key != member })
  }

  /// Of these the last one counts, if it has succeeded.
  @Test(arguments: [
    (FunctionID.showConstantTBT, "turn"), (.updateTurnList, "turnList"), (.alertManeuver, "maneuver"),
    (.setDisplayLayout, "layout"), (.sendHapticData, "haptics"),
  ])
  mutating func theLastRequest(function: FunctionID, name: String) {
    #expect(screen.json[name] == nil)
    for text in ["a", "b"] { perform(function, ["text": .string(text)]) }
    #expect(screen.json[name]?.object == ["text": .string("b")])
    send(function, ["text": .string("c")])
    screen.note(
      RPCMessage(
        type: .response, function: function, correlationID: correlationID, parameters: ["success": .bool(false)]))
    #expect(screen.json[name]?.object == ["text": .string("b")])
  }

  /// An overlay is that of the latest request.
  @Test mutating func overlays() {
    for text in ["a", "b"] { send(.alert, ["alertText1": .string(text)]) }
    send(.slider, ["sliderHeader": .string("c")])
    screen.show(.alert)
    #expect(screen.json["overlays"]?.object == ["Alert": .object(["alertText1": .string("b")])])
    screen.show(.slider)
    screen.hide(.alert)
    #expect(screen.json["overlays"]?.object == ["Slider": .object(["sliderHeader": .string("c")])])
  }

  /// A clock that is set without a time goes on from where it is, and never below zero.
  @Test mutating func clockWithoutATime() throws {
    setTimer(
      "COUNTDOWN", ["startTime": .object(["hours": .integer(1), "minutes": .integer(1), "seconds": .integer(1)])])
    func seconds() throws -> Double { try #require(screen.json["timer"]?.object?["seconds"]?.number) }
    #expect(try (3600...3661).contains(seconds()) && timer == [-1, nil])
    setTimer("COUNTUP")
    #expect(try (3600...3700).contains(seconds()) && timer == [1, nil])
    setTimer("COUNTDOWN", ["startTime": .object([:]), "countRate": .number(2)])
    #expect(try seconds() == 0 && timer == [-2, nil])
    // Without a clock before, it begins.
    setTimer("CLEAR")
    setTimer("PAUSE")
    #expect(try seconds() == 0 && timer == [0, nil])
    setTimer("RESUME")
    #expect(timer == [1, nil])
  }

  private mutating func put(_ name: String, _ bytes: [UInt8], offset: Int = 0, type: String = "GRAPHIC_PNG") {
    perform(
      .putFile, ["syncFileName": .string(name), "fileType": .string(type), "offset": .integer(offset)], bulk: bytes)
  }

  private func image(_ name: String) -> AppImages.Image? {
    screen.images?.json[name]?.integer.flatMap { screen.images?.image(number: $0) }
  }

  @Test mutating func images() throws {
    put("a", [1, 2])
    let first = try #require(image("a")?.number)
    put("a", [3], offset: 2)
    #expect(image("a")?.bytes == [1, 2, 3] && image("a")?.contentType == "image/png")
    // Pages ask for the numbers, and keep what they have got.
    #expect(image("a")?.number != first && screen.images?.image(number: first) == nil)
    put("a", [4])
    #expect(image("a")?.bytes == [4])
    put("b", [5], type: "AUDIO_MP3")
    perform(.deleteFile, ["syncFileName": .string("a")])
    #expect(screen.images?.json == [:])
  }

  /// `FileType` of the RPC specification; browsers go by the content type.
  @Test(arguments: [("GRAPHIC_BMP", "image/bmp"), ("GRAPHIC_JPEG", "image/jpeg"), ("GRAPHIC_PNG", "image/png")])
  mutating func typesOfImages(type: String, contentType: String) {
    put("a", [1], type: type)
    #expect(image("a")?.contentType == contentType)
  }

  @Test mutating func imagesAsFarAsThereIsRoom() {
    let large = [UInt8](repeating: 7, count: 9 << 20)
    put("a", large)
    put("b", large)
    #expect(image("a") != nil && image("b") == nil)
    perform(.deleteFile, ["syncFileName": .string("a")])
    put("b", large)
    put("c", [1])
    #expect(image("b") != nil && image("c") != nil)
    for number in 0..<600 { put("\(number)", [1]) }
    #expect(screen.images?.json.count == 500)
  }
}

/// The pictures of an app since its last key frame.
@Suite struct PictureGroupTests {
  private static let startCode: [UInt8] = [0, 0, 0, 1]
  /// Of 480×320, by x264.
  private static let sets =
    startCode + [
      0x67, 0x42, 0xC0, 0x15, 0xDA, 0x07, 0x82, 0x9B, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00, 0x03, 0x03,
      0xC8, 0xF1, 0x62, 0xEA,
    ] + startCode + [0x68, 0xCE, 0x0F, 0xC8]
  private static let keyFrame = startCode + [0x65, 0x88, 0x84, 0x3A, 0x26]
  private static let picture = startCode + [0x41, 0x9A, 0x20, 0x26, 0x80]

  private var group = PictureGroup()
  private var count = 0

  private mutating func append(_ messages: [UInt8]...) {
    for message in messages { group.append(message, countingOn: &count) }
  }

  private func numbers(after number: Int, atMost byteCount: Int = .max) -> [Int] {
    group.units(after: number, atMost: byteCount).map(\.number)
  }

  /// Nothing can be shown before a key frame with its parameter sets; a later one without its own gets those.
  @Test mutating func whatCanBeDecoded() throws {
    append(Self.picture, Self.keyFrame, Self.picture, Self.picture)
    #expect(group.isEmpty)
    append(Self.sets + Self.keyFrame, Self.picture, Self.picture)
    #expect(group.decodable.map(\.isKeyFrame) == [true, false, false])
    #expect(group.decodable.first?.size.width == 480 && group.decodable.first?.size.height == 320)
    append(Self.keyFrame)
    #expect(group.decodable.map(\.bytes) == [Self.sets + Self.keyFrame])
    append(Self.picture)
    group.flush(countingOn: &count)
    #expect(group.decodable.count == 2)
  }

  /// Messages that are made to cost much: full of parameter sets, of which the last ones count, or of pictures, of which
  /// the rest are left out up to the next key frame.
  @Test mutating func messagesOfManyUnits() {
    append((0..<100_000).flatMap { _ in Self.startCode + [0x67, 1, 2, 3] } + Self.sets + Self.keyFrame, Self.picture)
    #expect(group.decodable.count == 2 && group.decodable.first?.size.width == 480)
    append((0..<100_000).flatMap { _ in Self.picture }, Self.picture)
    #expect(group.isEmpty && count < 1000)
    append(Self.sets + Self.keyFrame, Self.picture, Self.picture)
    #expect(group.decodable.first?.isKeyFrame == true)
  }

  /// Who follows gets what is new, at least one, and begins with the key frame.
  @Test mutating func whatIsNew() {
    append(Self.sets + Self.keyFrame, Self.picture, Self.picture, Self.picture)
    #expect(numbers(after: 0) == [1, 2, 3, 4] && numbers(after: 2) == [3, 4] && numbers(after: 4) == [])
    #expect(numbers(after: 2, atMost: 1) == [3])
    #expect(numbers(after: 1, atMost: Self.picture.count) == [2])
    #expect(numbers(after: 1, atMost: Self.picture.count + 1) == [2, 3])
    #expect(group.decodable.map(\.bytes) == [Self.sets + Self.keyFrame, Self.picture, Self.picture, Self.picture])
    append(Self.keyFrame, Self.picture)
    #expect(numbers(after: 3) == [5, 6])
  }

  /// Its form for programs and pages.
  @Test func record() {
    let unit = PictureGroup.Unit(
      number: 0x0102_0304, bytes: [9, 8, 7], isKeyFrame: true, size: (800, 480), time: .microseconds(0x0506_0708_090A))
    let header: [UInt8] = [0, 0, 0, 3, 1, 2, 3, 4, 77, 1, 3, 0x20, 1, 0xE0, 0, 0, 0, 0, 5, 6, 7, 8, 9, 10]
    #expect(unit.record(of: 77) == header + [9, 8, 7])
    let other = PictureGroup.Unit(number: 5, bytes: [], isKeyFrame: false, size: (100_000, -1), time: .seconds(-1))
    #expect(other.record(of: 1) == [0, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 12))
  }

  /// So many bytes of pictures are kept: of a key frame and what follows it, not of those before.
  @Test mutating func largeGroups() {
    let byteCount = Self.sets.count + Self.keyFrame.count + 3 * Self.picture.count
    group = PictureGroup(maximumByteCount: byteCount)
    for _ in 1...3 {
      append(Self.sets + Self.keyFrame, Self.picture, Self.picture, Self.picture)
      group.flush(countingOn: &count)
      #expect(group.decodable.count == 4)
    }
    // Beyond that, half of those before go, which makes room for further ones.
    append(Self.picture)
    #expect(group.decodable.isEmpty && numbers(after: count - 3).isEmpty)
    #expect(numbers(after: count - 2) == [count - 1, count])
    append(Self.picture, Self.picture)
    #expect(numbers(after: count - 4) == [count - 3, count - 2, count - 1, count])
  }

  /// Without a key frame for long, the latest ones are kept for those who follow.
  @Test mutating func longGroup() {
    append(Self.sets + Self.keyFrame)
    for _ in 0..<10_000 { append(Self.picture) }
    #expect(count == 10_001 && group.decodable.isEmpty && numbers(after: 0).isEmpty)
    #expect(numbers(after: 9_999) == [10_000, 10_001])
    append(Self.keyFrame, Self.picture)
    #expect(group.decodable.map(\.isKeyFrame) == [true, false])
  }
}
