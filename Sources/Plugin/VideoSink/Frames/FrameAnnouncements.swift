import GStreamerKit

/// What the steps of a frame have to say to the application and to upstream. It is said when no thread has the frame path any more, since
/// the receiver may flush the pipeline at once.
final class FrameAnnouncements {
  enum Item {
    case warning(ElementError)
    /// Upstream may send other caps.
    case reconfigure
    case keyFrameRequest
  }

  private var items: [Item] = []

  func add(_ item: Item) {
    items.append(item)
  }

  /// What has been added since the last call.
  func take() -> [Item] {
    guard !items.isEmpty else { return [] }
    defer { items = [] }
    return items
  }
}
