import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What the head unit's policy lets the app do, as the application sees it.
@Suite struct PermissionTests {
  private static let noTouches = "This head unit's policy gives the app no touches: the maker has to list its app-id."

  private static func harness(_ policy: PolicyTable, properties: String = "") throws -> SinkHarness {
    let harness = try SinkHarness(.small().with { $0.policy = policy }, properties: "sync=false \(properties)")
    try harness.start()
    return harness
  }

  private static func permissions(of harness: SinkHarness) throws -> [String: String] {
    let sink = try harness.pipeline.sink
    #expect(eventually { sink.structure("permissions") != nil })
    return sink.structure("permissions") ?? [:]
  }

  @Test func listedApp() throws {
    let harness = try Self.harness(.listedApp)
    #expect(
      try Self.permissions(of: harness) == [
        "touches": "true", "touch-levels": "full", "haptic-rectangles": "true", "haptic-levels": "full",
        "keys": "true", "key-levels": "full, limited, background", "video": "true", "video-levels": "full, limited",
        "audio": "true", "audio-levels": "full, limited",
      ])
    try harness.deliver(2)
    #expect(harness.pipeline.drain().allSatisfy { $0.warning == nil })
    harness.pipeline.stop()
    #expect(try harness.pipeline.sink.structure("permissions") == nil)
  }

  /// As SDL Core is shipped: the warning comes once, also when the driver leaves and comes back, or a new film begins.
  @Test func unknownApp() throws {
    let harness = try Self.harness(.unknownApp)
    let permissions = try Self.permissions(of: harness)
    #expect(permissions["touches"] == "false" && permissions["touch-levels"] == "")
    #expect(permissions["haptic-rectangles"] == "false" && permissions["keys"] == "true")
    #expect(eventually { harness.pipeline.drain().contains { $0.warning?.text.hasPrefix(Self.noTouches) == true } })
    for level in [HMILevel.limited, .full] { try harness.headUnit.show(level) }
    harness.pipeline.setState(GST_STATE_READY)
    try harness.start()
    try harness.deliver(2)
    let warnings = harness.pipeline.drain().compactMap(\.warning)
    #expect(warnings.count == 1, "\(warnings)")
    #expect(warnings.first?.isResource(GST_RESOURCE_ERROR_NOT_AUTHORIZED) == true)
  }

  /// What the policy forbids is not asked for, and the application hears of it.
  @Test func rectanglesAreNotSent() throws {
    let configuration = HeadUnitConfiguration.small().with {
      $0.policy = .unknownApp
      $0.videoCapability?.hapticSpatialDataSupported = true
    }
    let harness = try SinkHarness(configuration, properties: "sync=false haptic-rectangles=<<1,1,10,10>>")
    try harness.start()
    #expect(eventually { harness.pipeline.drain().contains { $0.warning?.text.contains("DISALLOWED") == true } })
    #expect(harness.headUnit.record.hapticLists == [])
  }
}
