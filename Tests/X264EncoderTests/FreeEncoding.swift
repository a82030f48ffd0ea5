import TestSupport
import CX264
import Foundation
import H264
import Testing

/// libx264 without the rules of ``X264Encoder``, for streams like those of other encoders.
struct FreeEncoding: Sendable {
  var profile = "baseline"
  /// x264's option names and values.
  var options: [String: String] = [:]
  /// Write `pic_order_cnt_type` 0, which x264 does only where B frames are allowed; they are never used.
  var countsOrderExplicitly = false

  struct Failed: Error {}

  func encode(_ pictures: [Picture]) throws -> [[UInt8]] {
    let first = try #require(pictures.first)
    var parameters = x264_param_t()
    guard x264_param_default_preset(&parameters, "veryfast", "zerolatency") == 0 else { throw Failed() }
    parameters.i_width = Int32(first.width)
    parameters.i_height = Int32(first.height)
    parameters.i_csp = X264_CSP_I420
    parameters.i_threads = 1
    parameters.i_log_level = X264_LOG_ERROR
    parameters.i_keyint_max = 6
    parameters.b_repeat_headers = 1
    if countsOrderExplicitly { parameters.i_bframe = 1 }
    for (name, value) in options {
      guard x264_param_parse(&parameters, name, value) == 0 else { throw Failed() }
    }
    guard x264_param_apply_profile(&parameters, profile) == 0 else { throw Failed() }
    guard let encoder = cx264_encoder_open(&parameters) else { throw Failed() }
    defer { x264_encoder_close(encoder) }
    var input = x264_picture_t()
    guard x264_picture_alloc(&input, X264_CSP_I420, parameters.i_width, parameters.i_height) == 0 else {
      throw Failed()
    }
    defer { x264_picture_clean(&input) }

    var units: [[UInt8]] = []
    func append(_ nals: UnsafeMutablePointer<x264_nal_t>?, _ byteCount: Int32) throws {
      guard byteCount >= 0 else { throw Failed() }
      guard byteCount > 0, let nals else { return }
      units.append(Array(UnsafeRawBufferPointer(start: nals.pointee.p_payload, count: Int(byteCount))))
    }
    var nals: UnsafeMutablePointer<x264_nal_t>?
    var nalCount: Int32 = 0
    var output = x264_picture_t()
    for (index, picture) in pictures.enumerated() {
      fill(&input, with: picture)
      input.i_pts = Int64(index)
      if countsOrderExplicitly { input.i_type = index % 6 == 0 ? X264_TYPE_IDR : X264_TYPE_P }
      let byteCount = x264_encoder_encode(encoder, &nals, &nalCount, &input, &output)
      try append(nals, byteCount)
    }
    while x264_encoder_delayed_frames(encoder) > 0 {
      let byteCount = x264_encoder_encode(encoder, &nals, &nalCount, nil, &output)
      try append(nals, byteCount)
    }
    return countsOrderExplicitly ? try units.map(withoutReordering) : units
  }

  /// Sets `max_num_reorder_frames`, which x264 makes 1 for B frames that never come, to 0 in a sequence parameter set.
  private func withoutReordering(_ unit: [UInt8]) throws -> [UInt8] {
    let summary = unit.withUnsafeBytes { AccessUnitSummary(scanning: $0) }
    guard let range = summary.sequenceParameterSet else { return unit }
    var bits = unit[range].suffix(4).map { byte in
      String(repeating: "0", count: byte.leadingZeroBitCount) + (byte == 0 ? "" : String(byte, radix: 2))
    }.joined()
    // The end: 1, max_dec_frame_buffering 3, stop bit.
    let end = try #require(bits.range(of: "010001001", options: .backwards))
    bits.replaceSubrange(end, with: "1001001")
    let padded = bits + String(repeating: "0", count: 32 - bits.count)
    let tail = stride(from: 0, to: 32, by: 8).compactMap { UInt8(padded.dropFirst($0).prefix(8), radix: 2) }
    return joined(Array(unit[..<(range.upperBound - 4)]), tail, Array(unit[range.upperBound...]))
  }

  private func fill(_ input: inout x264_picture_t, with picture: Picture) {
    let planes = picture.planes(in: .i420)
    let destinations = [input.img.plane.0, input.img.plane.1, input.img.plane.2]
    let strides = [input.img.i_stride.0, input.img.i_stride.1, input.img.i_stride.2]
    for (index, plane) in planes.enumerated() {
      guard let destination = destinations[index] else { continue }
      plane.bytes.withUnsafeBytes { bytes in
        for row in 0..<bytes.count / plane.rowLength {
          let line = UnsafeRawBufferPointer(rebasing: bytes[row * plane.rowLength..<(row + 1) * plane.rowLength])
          UnsafeMutableRawBufferPointer(start: destination + row * Int(strides[index]), count: line.count)
            .copyMemory(from: line)
        }
      }
    }
  }
}
