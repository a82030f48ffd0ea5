import SDLMessages

/// The overlays that an app shows in front of its screen: their beginning and end.
struct AppInteractions: Sendable {
  private var shown: [AppInteraction.Layer: AppInteraction] = [:]

  subscript(_ layer: AppInteraction.Layer) -> AppInteraction? { shown[layer] }

  /// Overlays from the front to the back.
  var all: [AppInteraction] { AppInteraction.Layer.allCases.compactMap { shown[$0] } }

  /// The app's system context because of them; nil if there are none.
  var systemContext: SystemContext? { all.first?.systemContext }

  /// When each of them ends.
  func deadlines(_ timers: TimerTable) -> [AppInteraction.Layer: Duration] {
    shown.keys.reduce(into: [:]) { $0[$1] = timers.deadline(of: $1.timer) }
  }

  /// - Returns: whether the overlay is shown now. Otherwise the request was refused.
  mutating func begin(_ request: RPCMessage, menu: AppMenu, _ context: inout ServedContext) -> Bool {
    var interaction: AppInteraction
    do throws(RequestRefusal) {
      interaction = try AppInteraction(request, menu: menu, context.policy)
      interaction.warning = context.requestWarning
    } catch {
      context.refuse(request, error.code, error.info)
      return false
    }
    let layer = interaction.layer
    guard shown[layer] == nil, context.screen.overlaysOfOthers.until[layer] == nil else {
      refuse(request, layer, &context)
      return false
    }
    shown[layer] = interaction
    prolong(interaction, &context)
    context.report(.interactionShown(interaction.function, for: interaction.duration, interaction.driverInputs))
    return true
  }

  /// Only one is shown at a time, of all apps; a refused alert gets the time after which the app may try again.
  private func refuse(_ request: RPCMessage, _ layer: AppInteraction.Layer, _ context: inout ServedContext) {
    let end = context.timers.deadline(of: layer.timer) ?? context.screen.overlaysOfOthers.until[layer]
    let rest = layer == .alert ? end.map { max($0 - context.now, .zero) } : nil
    let members = rest.map { ["tryAgainTime": JSONValue.integer($0.timestamp)] } ?? [:]
    let info = shown[layer].map { "\($0.function) is being shown" } ?? "Another app shows its own"
    context.respond(
      to: request, RPCResult(success: false, resultCode: .rejected, info: info).json.merging(members) { $1 })
  }

  /// Restarts the time of the overlay.
  func prolong(_ interaction: AppInteraction, _ context: inout ServedContext) {
    context.timers.arm(interaction.layer.timer, at: context.now + interaction.duration)
  }

  /// Ends the overlay on a layer, and answers its request.
  /// - Parameter code: nil if its time is over.
  /// - Returns: false if there is none.
  mutating func end(
    _ layer: AppInteraction.Layer, _ code: ResultCode?, with members: JSONObject = [:], _ context: inout ServedContext
  ) -> Bool {
    guard let interaction = shown.removeValue(forKey: layer) else { return false }
    Self.answer(interaction, code ?? interaction.resultAtTimeout, with: members, &context)
    return true
  }

  private static func answer(
    _ interaction: AppInteraction, _ code: ResultCode, with members: JSONObject = [:], _ context: inout ServedContext
  ) {
    context.timers.cancel(interaction.layer.timer)
    let position = interaction.sliderPosition.map { ["sliderPosition": JSONValue.integer($0)] } ?? [:]
    context.respond(
      to: interaction.function, interaction.correlationID, code, with: members.merging(position) { given, _ in given },
      warning: interaction.warning)
    context.report(.interactionEnded(interaction.function, code))
  }

  /// CancelInteraction: without `cancelID` for the present overlay of this kind.
  /// - Returns: the overlay to end; nil if the request was refused.
  func layer(cancelledBy request: RPCMessage, _ context: inout ServedContext) -> AppInteraction.Layer? {
    let cancelID = request.parameters["cancelID"]?.integer
    let number = request.parameters["functionID"]?.integer ?? 0
    let function = UInt32(exactly: number).map { FunctionID(rawValue: $0) }
    guard let function, let layer = AppInteraction.Layer(function) else {
      context.refuse(request, .invalidID, "functionID is \(number), which can't be cancelled")
      return nil
    }
    guard let interaction = shown[layer], interaction.function == function,
      cancelID == nil || cancelID == interaction.cancelID
    else {
      let id = cancelID.map { " with the cancelID \($0)" } ?? ""
      context.refuse(request, .ignored, "No \(function)\(id) is being shown")
      return nil
    }
    return layer
  }

  /// Removes the overlays that may not be shown at a level, and returns them.
  mutating func take(notAllowedAt level: HMILevel?, by policy: AppPolicy) -> [AppInteraction] {
    guard let level else { return [] }
    let taken = all.filter { !policy.allows($0.function, at: level) }
    for interaction in taken { shown[interaction.layer] = nil }
    return taken
  }

  static func abort(_ interactions: [AppInteraction], _ context: inout ServedContext) {
    for interaction in interactions { answer(interaction, .aborted, &context) }
  }
}

/// An overlay that an app shows in front of its screen for a time, whose request is answered at its end: an alert, a
/// choice, a message or a slider.
struct AppInteraction: Sendable {
  /// An app has at most one on each layer.
  enum Layer: CaseIterable, Sendable {
    case alert
    /// Below alerts.
    case overlay

    /// Nil for requests that show nothing of this kind.
    init?(_ function: FunctionID) {
      switch function {
      case .alert, .subtleAlert: self = .alert
      case .performInteraction, .scrollableMessage, .slider: self = .overlay
      default: return nil
      }
    }

    var timer: TimerTable.Purpose {
      switch self {
      case .alert: .alert
      case .overlay: .overlay
      }
    }
  }

  let function: FunctionID
  let correlationID: Int32
  let layer: Layer
  /// For CancelInteraction.
  let cancelID: Int?
  let duration: Duration
  let softButtons: [SoftButton]
  /// The ids of a PerformInteraction's choices.
  let choices: Set<Int>
  /// Whether the driver can only speak (`interactionMode` VR_ONLY).
  let isSpoken: Bool
  /// The position of a slider, from 1 on; nil for other overlays.
  let sliderPosition: Int?
  /// Where the driver can move a slider; nil for other overlays.
  let sliderPositions: ClosedRange<Int>?
  let hasKeyboard: Bool
  /// The warning in the response.
  var warning: String?

  /// Checks what ``RequestSchemas`` leaves open.
  /// - Throws: SDL Core's answer to an invalid request. A request of another kind is INVALID_DATA.
  init(_ request: RPCMessage, menu: AppMenu, _ policy: AppPolicy) throws(RequestRefusal) {
    let parameters = request.parameters
    guard let layer = Layer(request.function), let time = Self.time(of: request.function) else {
      throw RequestRefusal(.invalidData, "\(request.function) shows nothing")
    }
    self.layer = layer
    function = request.function
    correlationID = request.correlationID
    cancelID = parameters["cancelID"]?.integer
    duration = .milliseconds(parameters[time.key]?.integer ?? time.standard)
    softButtons = try SoftButton.list(in: request, policy) ?? []
    let layout = parameters["interactionLayout"]?.string ?? ""
    hasKeyboard = ["KEYBOARD", "ICON_WITH_SEARCH", "LIST_WITH_SEARCH"].contains(layout)
    var choices: Set<Int> = []
    var positions: ClosedRange<Int>?
    switch request.function {
    case .alert, .subtleAlert:
      let isEmpty = ["alertText1", "alertText2"].allSatisfy { parameters[$0]?.string == nil }
      if isEmpty, parameters["ttsChunks"]?.array?.isEmpty ?? true {
        throw RequestRefusal(.invalidData, "alertText1, alertText2 or ttsChunks is needed")
      }
    case .performInteraction:
      let ids = (parameters["interactionChoiceSetIDList"]?.array ?? []).compactMap(\.integer)
      // A keyboard needs no choices.
      if ids.isEmpty, layout != "KEYBOARD" {
        throw RequestRefusal(.invalidData, "interactionChoiceSetIDList is empty, but interactionLayout is not KEYBOARD")
      }
      choices = try menu.choices(ofSets: ids)
    case .slider:
      let (ticks, position) = (parameters["numTicks"]?.integer ?? 0, parameters["position"]?.integer ?? 0)
      guard ticks > 0, position <= ticks else {
        throw RequestRefusal(.invalidData, "position is \(position), but numTicks is \(ticks)")
      }
      positions = 1...ticks
    default: break
    }
    self.choices = choices
    isSpoken = parameters["interactionMode"]?.string == "VR_ONLY"
    sliderPosition = parameters["position"]?.integer
    sliderPositions = positions
  }

  /// How long it is shown, in ms (MOBILE_API.xml).
  private static func time(of function: FunctionID) -> (key: String, standard: Int)? {
    switch function {
    case .alert, .subtleAlert: ("duration", 5000)
    case .performInteraction: ("timeout", 10_000)
    case .scrollableMessage: ("timeout", 30_000)
    case .slider: ("timeout", 10_000)
    default: nil
    }
  }

  /// The system context of the app's own status.
  var systemContext: SystemContext {
    switch layer {
    case .alert: .alert
    case .overlay: isSpoken ? .voiceSession : .obscured
    }
  }

  /// The result when its time is over. The RPC specification has TIMED_OUT only where the driver was asked to choose.
  var resultAtTimeout: ResultCode {
    function == .performInteraction || function == .slider ? .timedOut : .success
  }

  /// The result when the driver closes it without an answer, as SDL's generic HMI has it.
  var resultWhenDismissed: ResultCode { resultAtTimeout == .timedOut ? .aborted : .success }

  /// The inputs that the app has offered to end it before its time.
  var driverInputs: [DriverInput] {
    softButtons.map { .softButton($0.id) } + choices.sorted().map { .choice($0) }
      + (sliderPositions?.map { .slider($0) } ?? []) + (hasKeyboard ? [.keyboard("TEXT")] : [])
  }
}

/// A button on the screen that an app defines (`SoftButton` of the RPC specification).
struct SoftButton: Equatable, Sendable {
  /// The head unit's own action when it is pressed (`SystemAction`).
  enum Action: String, Sendable {
    /// Closes the overlay with the button.
    case close = "DEFAULT_ACTION"
    /// Closes it, and opens the app.
    case stealFocus = "STEAL_FOCUS"
    /// Restarts the time of the overlay.
    case keepContext = "KEEP_CONTEXT"
  }

  let id: Int
  let text: String
  let action: Action

  /// Checks what ``RequestSchemas`` leaves open.
  /// - Throws: INVALID_DATA for a button without the text or the image that its type has; DISALLOWED for an action that
  ///   the policies do not grant.
  private init(json: JSONObject, _ policy: AppPolicy) throws(RequestRefusal) {
    id = json["softButtonID"]?.integer ?? 0
    text = json["text"]?.string ?? ""
    let type = json["type"]?.string ?? ""
    let actionName = json["systemAction"]?.string ?? Action.close.rawValue
    guard let action = Action(rawValue: actionName), policy.allows(action) else {
      throw RequestRefusal(.disallowed, "The policies do not grant \(actionName.quoted) of soft button \(id)")
    }
    self.action = action
    // SDL Core accepts an empty text beside an image.
    let hasText = type == "BOTH" ? json["text"] != nil : !text.isEmpty
    if type != "IMAGE", !hasText { throw Self.refusal(id, type, without: "a text") }
    if let image = json["image"]?.object?["value"] {
      guard RPCSchema.text(1...65_535).contains(image) else { throw Self.refusal(id, type, without: "a valid image") }
    } else if type != "TEXT" {
      throw Self.refusal(id, type, without: "an image")
    }
  }

  private static func refusal(_ id: Int, _ type: String, without part: String) -> RequestRefusal {
    RequestRefusal(.invalidData, "Soft button \(id) of type \(type) is without \(part)")
  }

  /// The buttons in a request.
  /// - Returns: nil if the request has no buttons, so that those of a former request stay.
  static func list(in request: RPCMessage, _ policy: AppPolicy) throws(RequestRefusal) -> [SoftButton]? {
    guard let entries = request.parameters["softButtons"]?.array else { return nil }
    var buttons: [SoftButton] = []
    for entry in entries { buttons.append(try SoftButton(json: entry.object ?? [:], policy)) }
    return buttons
  }
}
