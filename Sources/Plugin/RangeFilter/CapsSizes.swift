import GStreamerKit
import SDLApp

/// The sizes in caps.
enum CapsSizes {
  /// The values of a field of type gint.
  enum Field {
    case values([Int])
    case range(ClosedRange<Int>)
    case absent

    init(_ structure: StructureView, _ name: String) {
      guard let value = structure.value(name) else {
        self = .absent
        return
      }
      if g_type_check_value_holds(value, cgst_type_int_range()) != 0 {
        self = .range(Int(gst_value_get_int_range_min(value))...Int(gst_value_get_int_range_max(value)))
      } else if g_type_check_value_holds(value, cgst_type_list()) != 0 {
        let values = (0..<gst_value_list_get_size(value)).compactMap {
          Self.integer(gst_value_list_get_value(value, $0))
        }
        let isComplete = values.count == Int(gst_value_list_get_size(value)) && !values.isEmpty
        self = isComplete ? .values(values) : .absent
      } else {
        self = Self.integer(value).map { .values([$0]) } ?? .absent
      }
    }

    private static func integer(_ value: UnsafePointer<GValue>?) -> Int? {
      guard let value, g_type_check_value_holds(value, cgst_type_int()) != 0 else { return nil }
      return Int(g_value_get_int(value))
    }

    func contains(_ value: Int) -> Bool {
      if case .values(let values) = self { values.contains(value) } else { bounds.contains(value) }
    }

    /// From the smallest value to the largest one.
    var bounds: ClosedRange<Int> {
      switch self {
      case .values(let values): (values.min() ?? 1)...(values.max() ?? 1)
      case .range(let range): range
      case .absent: 1...Int(Int32.max)
      }
    }
  }

  /// The size of fixed caps; nil if they do not have one.
  static func fixedSize(_ caps: UnsafePointer<GstCaps>) -> VideoSize? {
    guard gst_caps_is_fixed(caps) != 0 else { return nil }
    return StructureView(caps: caps, 0).flatMap(size)
  }

  /// The one size of a structure; nil if it has none, or more.
  static func size(_ structure: StructureView) -> VideoSize? {
    guard let width = structure.integer("width"), let height = structure.integer("height") else { return nil }
    return VideoSize(Int(width), Int(height))
  }

  /// The one size of a structure; nil if it has none, or more.
  static func size(_ structure: UnsafePointer<GstStructure>) -> VideoSize? { size(StructureView(structure)) }

  /// Those of `sizes` that pictures of `caps` may have.
  static func sizes(in caps: UnsafePointer<GstCaps>, among sizes: [VideoSize]) -> Set<VideoSize> {
    guard gst_caps_is_any(caps) == 0 else { return Set(sizes) }
    var found: Set<VideoSize> = []
    let wanted = Set(sizes)
    for index in 0..<Int(gst_caps_get_size(caps)) {
      guard let structure = StructureView(caps: caps, index) else { continue }
      if let size = size(structure) {
        if wanted.contains(size) { found.insert(size) }
        continue
      }
      let (width, height) = (Field(structure, "width"), Field(structure, "height"))
      found.formUnion(wanted.filter { width.contains($0.width) && height.contains($0.height) })
    }
    return found
  }
}
