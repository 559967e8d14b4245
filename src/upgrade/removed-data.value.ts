// Generated from the Go modules of Kubernetes and etcd by "npm run tables:removed"; do not edit.

/** What one minor of Kubernetes no longer knows, in words that spaces separate. */
export interface RemovedData {
  /** The versions whose sources were compared, the older one first. */
  readonly compared: { readonly kubernetes: readonly [string, string]; readonly etcd: readonly [string, string] };
  /** By component, names without dashes. */
  readonly flags: Readonly<Record<string, string>>;
  /** By the set of gates: `kubernetes` (all of its components), `etcd`, `kubeadm`. */
  readonly gates: Readonly<Record<string, string>>;
  /** `NAME=VALUE`: the only value that is accepted from this minor on. */
  readonly locked: Readonly<Record<string, string>>;
  /** `group/version/Kind` */
  readonly apis: string;
  /** `group/version` of which nothing is left. */
  readonly groupVersions: string;
}

/** By minor. */
export const removedData: Readonly<Record<string, RemovedData>> = {
  '1.34': {
    compared: { kubernetes: ['1.33.4', '1.34.4'], etcd: ['3.5.21', '3.6.5'] },
    flags: {
      kubelet: 'cloud-config register-schedulable',
      etcd: `
      enable-v2 experimental-enable-v2v3 proxy proxy-dial-timeout proxy-failure-wait proxy-read-timeout
      proxy-refresh-interval proxy-write-timeout`,
    },
    gates: {
      kubernetes:
        'DevicePluginCDIDevices ElasticIndexedJob LegacySidecarContainers PodDisruptionConditions ' +
        'StatefulSetStartOrdinal',
    },
    locked: {
      kubernetes: `
      APIServerTracing=true AnonymousAuthConfigurableEndpoints=true AuthorizeNodeWithSelectors=true
      AuthorizeWithSelectors=true ConsistentListFromCache=true JobPodReplacementPolicy=true
      KubeletCgroupDriverFromCRI=true KubeletTracing=true MultiCIDRServiceAllocator=true NodeSwap=true
      OrderedNamespaceDeletion=true PodLifecycleSleepAction=true PodLifecycleSleepActionAllowZero=true
      RecoverVolumeExpansionFailure=true RelaxedDNSSearchValidation=true RelaxedEnvironmentVariableValidation=true
      ResilientWatchCacheInitialization=true SchedulerQueueingHints=true SeparateTaintEvictionController=true
      StreamingCollectionEncodingToJSON=true StreamingCollectionEncodingToProtobuf=true
      StructuredAuthenticationConfiguration=true WinDSR=true WinOverlay=true`,
      kubeadm: 'WaitForAllControlPlaneComponents=true',
    },
    apis: `
      admissionregistration.k8s.io/v1beta1/ValidatingAdmissionPolicy
      admissionregistration.k8s.io/v1beta1/ValidatingAdmissionPolicyBinding resource.k8s.io/v1alpha3/DeviceClass
      resource.k8s.io/v1alpha3/ResourceClaim resource.k8s.io/v1alpha3/ResourceClaimTemplate
      resource.k8s.io/v1alpha3/ResourceSlice`,
    groupVersions: 'networking.k8s.io/v1alpha1',
  },
  '1.35': {
    compared: { kubernetes: ['1.34.4', '1.35.8'], etcd: ['3.6.5', '3.6.6'] },
    flags: { kubelet: 'pod-infra-container-image' },
    gates: {
      kubernetes: `
      AllowServiceLBStatusOnNonLB ComponentSLIs CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel
      ProbeHostPodSecurityStandards SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StrictCostEnforcementForVAP
      StrictCostEnforcementForWebhooks UserNamespacesPodSecurityStandards`,
      kubeadm: 'WaitForAllControlPlaneComponents',
    },
    locked: {
      kubernetes: `
      AggregatedDiscoveryRemoveBetaType=true AllowOverwriteTerminationGracePeriodSeconds=false
      DisableAllocatorDualWrite=true DynamicResourceAllocation=true ExecProbeTimeout=true ImageMaximumGCAge=true
      InPlacePodVerticalScaling=true JobManagedBy=true PodObservedGenerationTracking=true
      PreferSameTrafficDistribution=true SupplementalGroupsPolicy=true`,
      kubeadm: 'ControlPlaneKubeletLocalMode=true',
    },
    apis: `
      apidiscovery.k8s.io/v2beta1/APIGroupDiscovery certificates.k8s.io/v1alpha1/PodCertificateRequest
      storage.k8s.io/v1alpha1/VolumeAttributesClass storagemigration.k8s.io/v1alpha1/StorageVersionMigration`,
    groupVersions: 'storagemigration.k8s.io/v1alpha1',
  },
  '1.36': {
    compared: { kubernetes: ['1.35.8', '1.36.3'], etcd: ['3.6.6', '3.6.8'] },
    flags: {},
    gates: {
      kubernetes: `
      CSIMigrationPortworx HonorPVReclaimPolicy InPlacePodVerticalScalingAllocatedStatus
      InTreePluginPortworxUnregister MemoryManager ServiceTrafficDistribution StructuredAuthorizationConfiguration
      TopologyAwareHints WatchFromStorageWithoutResourceVersion`,
      kubeadm: 'ControlPlaneKubeletLocalMode',
    },
    locked: {
      kubernetes: `
      CSIServiceAccountTokenSecrets=true DRAAdminAccess=true DeclarativeValidation=true
      DisableNodeKubeProxyVersion=true ExternalServiceAccountTokenSigner=true GitRepoVolumeDriver=false
      ImageVolume=true InOrderInformers=true KubeletFineGrainedAuthz=true KubeletPSI=true
      KubeletPodResourcesDynamicResources=true KubeletPodResourcesGet=true MutableCSINodeAllocatableCount=true
      NodeLogQuery=true ProcMountType=true SELinuxChangePolicy=true SELinuxMountReadWriteOncePod=true
      SeparateCacheWatchRPC=false TopologyManagerPolicyOptions=true UserNamespacesSupport=true
      VolumeAttributesClass=true`,
      kubeadm: 'NodeLocalCRISocket=true',
    },
    apis: 'scheduling.k8s.io/v1alpha1/Workload',
    groupVersions: 'autoscaling/v2beta1 autoscaling/v2beta2 scheduling.k8s.io/v1alpha1',
  },
  '1.37': {
    compared: { kubernetes: ['1.36.3', '1.37.1'], etcd: ['3.6.8', '3.7.0'] },
    flags: {
      'kube-controller-manager': 'concurrent-service-syncs',
      kubelet: `
      application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader
      event-storage-age-limit event-storage-event-limit global-housekeeping-interval log-cadvisor-usage
      machine-id-file storage-driver-buffer-duration storage-driver-db storage-driver-host storage-driver-password
      storage-driver-secure storage-driver-table storage-driver-user`,
      etcd: `
      discovery discovery-proxy experimental-bootstrap-defrag-threshold-megabytes
      experimental-compact-hash-check-enabled experimental-compact-hash-check-time experimental-compaction-batch-limit
      experimental-compaction-sleep-interval experimental-corrupt-check-time experimental-distributed-tracing-address
      experimental-distributed-tracing-instance-id experimental-distributed-tracing-sampling-rate
      experimental-distributed-tracing-service-name experimental-downgrade-check-time
      experimental-enable-distributed-tracing experimental-enable-lease-checkpoint
      experimental-enable-lease-checkpoint-persist experimental-initial-corrupt-check experimental-memory-mlock
      experimental-peer-skip-client-san-verification experimental-snapshot-catchup-entries
      experimental-stop-grpc-service-on-defrag experimental-txn-mode-write-with-shared-buffer
      experimental-warning-apply-duration experimental-warning-unary-request-duration
      experimental-watch-progress-notify-interval`,
    },
    gates: {
      kubernetes: `
      APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
      AuthorizeWithSelectors BtreeWatchCache ConsistentListFromCache GangScheduling JobBackoffLimitPerIndex
      JobPodReplacementPolicy JobSuccessPolicy LogarithmicScaleDown OrderedNamespaceDeletion PodLifecycleSleepAction
      PodLifecycleSleepActionAllowZero PreventStaticPodAPIReferences RelaxedDNSSearchValidation
      ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints SidecarContainers
      StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
      WorkloadAwarePreemption`,
      kubeadm: 'NodeLocalCRISocket PublicKeysECDSA',
    },
    locked: {
      kubernetes: `
      DRAExtendedResource=true DRAPrioritizedList=true DRAResourceClaimDeviceStatus=true
      DeclarativeValidationTakeover=false DisableCPUQuotaWithExclusiveCPUs=true HPAConfigurableTolerance=true
      HostnameOverride=true InPlacePodVerticalScalingInitContainers=true NodeDeclaredFeatures=true
      PLEGOnDemandRelist=true PodReadyToStartContainersCondition=true RelaxedServiceNameValidation=true
      WatchCacheInitializationPostStartHook=true`,
    },
    apis: `
      certificates.k8s.io/v1alpha1/ClusterTrustBundle networking.k8s.io/v1beta1/IPAddress
      networking.k8s.io/v1beta1/ServiceCIDR scheduling.k8s.io/v1alpha2/PodGroup scheduling.k8s.io/v1alpha2/Workload
      storage.k8s.io/v1beta1/VolumeAttributesClass`,
    groupVersions: 'scheduling.k8s.io/v1alpha2',
  },
};
