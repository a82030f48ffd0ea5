import SDLWire
import Testing

@Suite struct TransportRoleTests {
  /// `audioServiceTransports` and `videoServiceTransports` of StartServiceACK.
  @Test(
    arguments: [
      (nil, [.primary]), ([], []), ([1], [.primary]), ([2], [.secondary]), ([2, 1], [.secondary, .primary]),
      ([1, 2], [.primary, .secondary]), ([2, 2, 1, 2], [.secondary, .primary]), ([0, 3, -1, 2], [.secondary]),
    ] as [([Int32]?, [TransportRole])])
  func preferences(list: [Int32]?, expected: [TransportRole]) {
    #expect(TransportRole.preferences(list) == expected)
  }
}
