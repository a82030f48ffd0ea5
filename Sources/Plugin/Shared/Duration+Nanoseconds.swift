extension Duration {
  /// As GStreamer counts time; durations beyond 292 years are cut.
  var nanoseconds: Int {
    let (seconds, attoseconds) = components
    let (product, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : product + Int(attoseconds / 1_000_000_000)
  }

  /// For people, such as "0.5".
  var inSeconds: String {
    let tenths = (nanoseconds + 50_000_000) / 100_000_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
