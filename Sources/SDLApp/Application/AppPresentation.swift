import SDLMessages

/// How the head unit shows the app in its lists: its name in the head unit's own language, and its icon. Both are sent
/// once after the registration, as soon as the policy is known and allows it, one request at a time.
struct AppPresentation: Sendable {
  fileprivate enum Step {
    case name(ChangeRegistration)
    case file(FileUpload)
    case icon
  }

  private let configuration: AppSession.Configuration
  /// The remaining steps; the first one has begun if it is ``isUnanswered``.
  private var steps: [Step] = []
  private var isUnanswered = false
  /// The head unit requires the request to be encrypted.
  private var waitsForProtection = false

  init(_ configuration: AppSession.Configuration) {
    self.configuration = configuration
  }

  mutating func registered(_ response: RegisterAppInterfaceResponse) {
    guard response.result.success else { return }
    if let language = response.displayLanguage ?? response.language, language != configuration.language,
      let name = configuration.names[language]
    {
      steps.append(.name(ChangeRegistration(language: language, appName: name)))
    }
    guard let icon = configuration.icon, !response.isIconResumed else { return }
    let parameters: JSONObject = [
      "syncFileName": .string(AppIcon.fileName), "fileType": .string("GRAPHIC_PNG"), "persistentFile": .bool(true),
    ]
    steps += [.file(FileUpload(parameters, icon.bytes)), .icon]
  }

  /// HMI level, permissions or encryption have changed.
  mutating func permissionsChanged() {
    waitsForProtection = false
  }

  /// Sends the next request, if there is one that the policy allows at this level.
  mutating func reconcile(_ context: inout SessionContext) {
    guard !isUnanswered, !waitsForProtection, context.isRegistered, let step = steps.first else { return }
    let function = step.function
    guard context.permissions?.allow(function, at: context.hmiStatus?.level) == true,
      !context.security.rpc.isMissing(for: function)
    else { return }
    isUnanswered = true
    switch step {
    case .name(let change): context.request(function, change.json)
    case .file(var upload):
      guard let part = upload.nextPart() else { return }
      steps[0] = .file(upload)
      context.request(function, part.parameters, bulk: part.bulk)
    case .icon: context.request(function, ["syncFileName": .string(AppIcon.fileName)])
    }
  }

  /// Takes the answer to the request, nil if none came in time. A refused request is not repeated.
  mutating func answered(_ result: RPCResult?, _ context: inout SessionContext) {
    guard isUnanswered, let step = steps.first else { return }
    isUnanswered = false
    if result?.success == true {
      if case .file(let upload) = step, !upload.isComplete { return }
      steps.removeFirst()
    } else if result?.resultCode == ResultCode.encryptionNeeded.rawValue, context.security.rpc.isPossible {
      waitsForProtection = true
      // The upload starts again.
      if case .file(let upload) = step { steps[0] = .file(upload.restarted) }
    } else {
      // Without the file there is no icon.
      if case .file = step { steps = [] } else { steps.removeFirst() }
      context.messenger.report(
        .presentationRefused(step.function, resultCode: result?.resultCode ?? "no answer", info: result?.info))
    }
  }
}

extension AppPresentation.Step {
  fileprivate var function: FunctionID {
    switch self {
    case .name: .changeRegistration
    case .file: .putFile
    case .icon: .setAppIcon
    }
  }
}

/// The picture with which the head unit shows the app.
package struct AppIcon: Equatable, Sendable {
  /// On the head unit, where each app has a folder of its own.
  static let fileName = "app-icon.png"

  /// A PNG file; at least one byte.
  package var bytes: [UInt8]

  /// An icon of a PNG file.
  package init(png bytes: [UInt8]) {
    self.bytes = bytes
  }
}
