import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The default `app-id` and `app-name` of several sinks on one head unit, which registers each of them once.
@Suite struct DefaultIdentityTests {
  private struct Names: Equatable {
    var name: String
    var id: String
  }

  private func registered(_ headUnit: TestHeadUnit, _ count: Int) throws -> [Names] {
    try headUnit.wait(for: "\(count) apps") { record in
      let apps = record.events.compactMap { event -> Names? in
        guard case .appRegistered(let name, let id, _, _, _) = event else { return nil }
        return Names(name: name, id: id)
      }
      return apps.count >= count ? apps : nil
    }
  }

  private func sink(_ headUnit: TestHeadUnit, _ properties: String = "") throws -> Pipeline {
    let pipeline = try Pipeline("videotestsrc is-live=true ! sdlvideosink name=sink uri=\(headUnit.uri) \(properties)")
    try pipeline.play()
    return pipeline
  }

  @Test func twoSinksInOneProcess() throws {
    let headUnit = try TestHeadUnit()
    let first = try sink(headUnit)
    #expect(try registered(headUnit, 1) == [Names(name: "GStreamer", id: "gst-smartdevicelink")])
    let second = try sink(headUnit)
    #expect(try registered(headUnit, 2)[1] == Names(name: "GStreamer 2", id: "gst-smartdevicelink-2"))
    // What the user has set and not set is told apart by the properties.
    #expect(try second.sink["app-name"] == "GStreamer" && second.sink["app-id"] == "gst-smartdevicelink")
    #expect(second.drain().allSatisfy { $0.warning == nil && $0.error == nil })
    // The number of one that has gone is free again, and one that starts again has what it had.
    first.stop()
    let third = try sink(headUnit)
    #expect(try registered(headUnit, 3)[2] == Names(name: "GStreamer", id: "gst-smartdevicelink"))
    second.stop()
    try second.play()
    #expect(try registered(headUnit, 4)[3] == Names(name: "GStreamer 2", id: "gst-smartdevicelink-2"))
    third.stop()
  }

  @Test func onlyDefaultsHaveNumbers() throws {
    let headUnit = try TestHeadUnit()
    let first = try sink(headUnit)
    _ = try registered(headUnit, 1)
    let second = try sink(headUnit, "app-name=Map")
    #expect(try registered(headUnit, 2)[1] == Names(name: "Map", id: "gst-smartdevicelink-2"))
    let third = try sink(headUnit, "app-name=Radio app-id=radio")
    #expect(try registered(headUnit, 3)[2] == Names(name: "Radio", id: "radio"))
    for pipeline in [first, second, third] { pipeline.stop() }
  }

  @Test(arguments: [
    ("sdl://127.0.0.1:4000", "localhost:4000"), ("sdl://LOCALHOST:4000", "localhost:4000"),
    ("sdl://[::1]:4000", "localhost:4000"), ("sdl://192.0.2.7", "192.0.2.7:12345"), ("sdl+builtin:core", nil),
    ("nonsense", nil), (nil, nil),
  ])
  func headUnit(uri: String?, expected: String?) {
    #expect(GStreamer.isReady, "it reads the uri")
    var settings = AppSettings()
    settings.uri = uri
    #expect(settings.headUnitOfDefaults == expected)
    settings.name = "Map"
    #expect(settings.headUnitOfDefaults == expected)
    settings.id = "map"
    #expect(settings.headUnitOfDefaults == nil)
  }

  /// Ids that were set are registered once, whatever their case.
  @Test(arguments: [
    ("sdl://127.0.0.1", "sdl://LocalHost:12345", true), ("sdl://192.0.2.7", "sdl://192.0.2.8", false),
    ("sdl+bluetooth:", "sdl+bluetooth:", true), ("sdl+builtin:core", "sdl+builtin:core", false), (nil, nil, false),
  ])
  func oneIDOnOneHeadUnit(_ uri: String?, _ other: String?, _ isRefused: Bool) {
    #expect(GStreamer.isReady, "it reads the uri")
    var (first, second) = (AppSettings(), AppSettings())
    (first.uri, second.uri) = (uri, other)
    #expect(!first.excludes(second), "defaults get a number")
    (first.id, second.id) = ("map", "Map")
    #expect(first.excludes(second) == isRefused)
    second.id = "radio"
    #expect(!first.excludes(second))
  }

  /// Another head unit knows nothing of these.
  @Test func eachHeadUnitHasItsOwn() throws {
    let headUnits = [try TestHeadUnit(), try TestHeadUnit()]
    let pipelines = try headUnits.map { try sink($0) }
    for headUnit in headUnits {
      #expect(try registered(headUnit, 1) == [Names(name: "GStreamer", id: "gst-smartdevicelink")])
    }
    for pipeline in pipelines { pipeline.stop() }
  }

  @Test func numbers() {
    let headUnit = "test \(UInt64.random(in: 0...(.max))):12345"
    var first: AppNumber? = AppNumber(on: headUnit)
    let second = AppNumber(on: headUnit)
    #expect(first?.value == 1 && second.value == 2)
    first = nil
    let third = AppNumber(on: headUnit)
    let fourth = AppNumber(on: headUnit)
    #expect(third.value == 1 && second.value == 2 && fourth.value == 3)
    _ = AppNumber(on: String(repeating: "long", count: 100))
  }

  private final class Numbered {
    private let number: AppNumber
    init(on headUnit: String) { number = AppNumber(on: headUnit) }
    var value: Int { number.value }
  }

  /// The head unit refuses one more, whatever its name.
  @Test func moreAppsThanNumbers() {
    let headUnit = "test \(UInt64.random(in: 0...(.max))):12345"
    let apps = (1...33).map { _ in Numbered(on: headUnit) }
    #expect(apps.map(\.value) == Array(1...32) + [1])
  }
}
