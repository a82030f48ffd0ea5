import GStreamerKit
import SDLApp

/// The sizes in caps, and what ranges leave of them.
enum CapsSizes {
  /// What a field of a structure may be.
  private enum Field {
    case values([Int])
    case range(ClosedRange<Int>)
    case absent

    func contains(_ value: Int) -> Bool {
      if case .values(let values) = self { values.contains(value) } else { bounds.contains(value) }
    }

    var bounds: ClosedRange<Int> {
      switch self {
      case .values(let values): (values.min() ?? 1)...(values.max() ?? 1)
      case .range(let range): range
      case .absent: 1...Int(Int32.max)
      }
    }
  }

  /// Lists of widths and of heights with more combinations than this are treated as ranges.
  private static let mostCombinations = 256

  /// The size of caps that flow, or are about to; nil if they do not tell it.
  static func fixedSize(_ caps: UnsafePointer<GstCaps>) -> VideoSize? {
    guard gst_caps_is_fixed(caps) != 0, let structure = gst_caps_get_structure(caps, 0) else { return nil }
    return size(structure)
  }

  static func size(_ structure: UnsafePointer<GstStructure>) -> VideoSize? {
    var (width, height): (gint, gint) = (0, 0)
    guard gst_structure_get_int(structure, "width", &width) != 0,
      gst_structure_get_int(structure, "height", &height) != 0
    else { return nil }
    return VideoSize(Int(width), Int(height))
  }

  /// What `judge` leaves of `caps`. Caps from upstream stay one structure each, for the order of what downstream
  /// prefers; what downstream offers is taken apart, the head unit's sizes first.
  static func restricted(
    _ caps: UnsafeMutablePointer<GstCaps>, by judge: VideoRangeJudge, isUpstream: Bool
  ) -> UnsafeMutablePointer<GstCaps>? {
    var result = gst_caps_new_empty()
    for index in 0..<gst_caps_get_size(caps) {
      guard let structure = gst_caps_get_structure(caps, index) else { continue }
      for part in parts(structure, judge, isUpstream: isUpstream) {
        // Leaves out what is there already.
        result = gst_caps_merge_structure_full(
          result, part, gst_caps_get_features(caps, index).map { gst_caps_features_copy($0) })
      }
    }
    return result
  }

  private static func parts(
    _ structure: UnsafeMutablePointer<GstStructure>, _ judge: VideoRangeJudge, isUpstream: Bool
  ) -> [UnsafeMutablePointer<GstStructure>] {
    let (width, height) = (field(structure, "width"), field(structure, "height"))
    if case .absent = width, case .absent = height, isUpstream, gst_structure_has_name(structure, "video/x-h264") != 0 {
      // H.264 whose size only its parameter sets tell.
      return [gst_structure_copy(structure)].compactMap(\.self)
    }
    if case .values(let widths) = width, case .values(let heights) = height,
      widths.count * heights.count <= mostCombinations
    {
      let sizes = widths.flatMap { width in heights.map { VideoSize(width, $0) } }
      let accepted = sizes.filter(judge.supports)
      guard accepted.count < sizes.count else { return [gst_structure_copy(structure)].compactMap(\.self) }
      return accepted.compactMap { narrowed(structure, to: box($0)) }
    }
    let within = VideoSizeBox(width: width.bounds, height: height.bounds)
    let boxes = judge.ranges.boxes(within: within)
    let shown = judge.survivors.compactMap(\.streamSize).filter {
      within.width.contains($0.width) && within.height.contains($0.height)
    }
    let all = shown.map(box) + boxes
    guard isUpstream else { return all.compactMap { narrowed(structure, to: $0) } }
    guard let hull = hull(all) else { return [] }
    return [narrowed(structure, to: hull)].compactMap(\.self)
  }

  private static func box(_ size: VideoSize) -> VideoSizeBox {
    VideoSizeBox(width: size.width...size.width, height: size.height...size.height)
  }

  private static func hull(_ boxes: [VideoSizeBox]) -> VideoSizeBox? {
    guard var hull = boxes.first else { return nil }
    for box in boxes.dropFirst() {
      hull.width = min(hull.width.lowerBound, box.width.lowerBound)...max(hull.width.upperBound, box.width.upperBound)
      hull.height =
        min(hull.height.lowerBound, box.height.lowerBound)...max(hull.height.upperBound, box.height.upperBound)
    }
    return hull
  }

  private static func field(_ structure: UnsafePointer<GstStructure>, _ name: String) -> Field {
    guard let value = gst_structure_get_value(structure, name) else { return .absent }
    if g_type_check_value_holds(value, cgst_type_int_range()) != 0 {
      return .range(Int(gst_value_get_int_range_min(value))...Int(gst_value_get_int_range_max(value)))
    }
    if g_type_check_value_holds(value, cgst_type_list()) != 0 {
      let values = (0..<gst_value_list_get_size(value)).compactMap { integer(gst_value_list_get_value(value, $0)) }
      return values.count == Int(gst_value_list_get_size(value)) && !values.isEmpty ? .values(values) : .absent
    }
    return integer(value).map { .values([$0]) } ?? .absent
  }

  private static func integer(_ value: UnsafePointer<GValue>?) -> Int? {
    guard let value, g_type_check_value_holds(value, cgst_type_int()) != 0 else { return nil }
    return Int(g_value_get_int(value))
  }

  /// The structure with its sizes cut down to those in `box`; nil if none is left.
  private static func narrowed(
    _ structure: UnsafePointer<GstStructure>, to box: VideoSizeBox
  ) -> UnsafeMutablePointer<GstStructure>? {
    guard let copy = gst_structure_copy(structure) else { return nil }
    guard narrow(copy, "width", to: box.width), narrow(copy, "height", to: box.height) else {
      gst_structure_free(copy)
      return nil
    }
    return copy
  }

  private static func narrow(
    _ structure: UnsafeMutablePointer<GstStructure>, _ field: String, to range: ClosedRange<Int>
  ) -> Bool {
    var wanted = GValue()
    defer { g_value_unset(&wanted) }
    let (lower, upper) = (gint(clamping: range.lowerBound), gint(clamping: range.upperBound))
    if lower == upper {
      g_value_init(&wanted, cgst_type_int())
      g_value_set_int(&wanted, lower)
    } else {
      g_value_init(&wanted, cgst_type_int_range())
      gst_value_set_int_range(&wanted, lower, upper)
    }
    guard let present = gst_structure_get_value(structure, field) else {
      gst_structure_set_value(structure, field, &wanted)
      return true
    }
    var common = GValue()
    guard gst_value_intersect(&common, present, &wanted) != 0 else { return false }
    gst_structure_take_value(structure, field, &common)
    return true
  }
}

extension CapsSizes {
  /// Those of `sizes` that pictures of `caps` may have.
  static func sizes(in caps: UnsafePointer<GstCaps>, among sizes: [VideoSize]) -> Set<VideoSize> {
    guard gst_caps_is_any(caps) == 0 else { return Set(sizes) }
    var found: Set<VideoSize> = []
    let wanted = Set(sizes)
    for index in 0..<gst_caps_get_size(caps) {
      guard let structure = gst_caps_get_structure(caps, index) else { continue }
      if let size = size(structure) {
        if wanted.contains(size) { found.insert(size) }
        continue
      }
      let (width, height) = (field(structure, "width"), field(structure, "height"))
      found.formUnion(wanted.filter { width.contains($0.width) && height.contains($0.height) })
    }
    return found
  }
}

/// For people.
extension CapsSizes {
  static func text(_ caps: UnsafePointer<GstCaps>?) -> String {
    guard let caps, let text = gst_caps_to_string(caps) else { return "nothing" }
    defer { g_free(text) }
    return String(cString: text)
  }

  /// Why `judge` leaves nothing of `caps`; empty if it does leave something.
  static func objections(of judge: VideoRangeJudge, to caps: UnsafeMutablePointer<GstCaps>) -> [String] {
    var objections: [String] = []
    for index in 0..<gst_caps_get_size(caps) {
      guard let structure = gst_caps_get_structure(caps, index) else { continue }
      let parts = parts(structure, judge, isUpstream: false)
      parts.forEach { gst_structure_free($0) }
      guard parts.isEmpty else { return [] }
      // Raw video and H.264 often come in the same sizes.
      objections += self.objections(of: judge, to: structure).filter { !objections.contains($0) }
    }
    return objections
  }

  private static func objections(
    of judge: VideoRangeJudge, to structure: UnsafePointer<GstStructure>
  ) -> [String] {
    if case .values(let widths) = field(structure, "width"), case .values(let heights) = field(structure, "height") {
      return widths.flatMap { width in heights.flatMap { judge.objections(to: VideoSize(width, $0)) } }
    }
    let (width, height) = (field(structure, "width").bounds, field(structure, "height").bounds)
    return [
      "\(width.lowerBound)–\(width.upperBound)×\(height.lowerBound)–\(height.upperBound): no such size is in the ranges"
    ]
  }
}
