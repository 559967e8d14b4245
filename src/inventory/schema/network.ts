import * as z from 'zod';
import {
  cidr,
  cidrs,
  freeObject,
  image,
  imageRepository,
  localPath,
  manifestEntry,
  port,
  sha256,
  text,
} from './formats.ts';
import { loadBalancers, nodeLocalDns } from './network-services.ts';

const windows = z
  .strictObject({
    services: z
      .boolean()
      .default(false)
      .meta({
        description:
          'True: flanneld and kube-proxy are services of each Windows host, run by nssm, instead of HostProcess ' +
          'pods; windows.downloads.network has their programs.',
      }),
    flannelImage: image().default('docker.io/sigwindowstools/flannel:v0.21.5-hostprocess').meta({
      description: 'HostProcess image with flanneld.exe in C:\\flannel and the CNI plugins in C:\\cni.',
    }),
    kubeProxyImage: image()
      .exactOptional()
      .meta({
        description:
          'HostProcess image with kube-proxy.exe in C:\\kube-proxy; with Calico too. Default: ' +
          'docker.io/sigwindowstools/kube-proxy:v<version>-calico-hostprocess, the one that is still published.',
      }),
  })
  .prefault({})
  .meta({
    description:
      'The network of Windows hosts. With flannel its kind follows flannel.backend: overlay, or host-gw (l2bridge).',
  });

/** `network.calico:` */
const calicoSettings = z.strictObject({
  version: text(/^3\.\d+\.\d+$/, 'an exact version, e.g. "3.33.1"')
    .exactOptional()
    .meta({
      description:
        "Version of Calico, 3.27.0 or newer: its operator's manifests are fetched from its project's repository. " +
        'Upgrade one minor at a time.',
    }),
  sha256: z
    .record(z.string(), sha256())
    .default({})
    .meta({
      examples: [{ 'tigera-operator.yaml': '0123456789abcdef'.repeat(4) }],
      description: 'SHA-256 of these manifests, by the names of their files. Default: what kbuild knows.',
    }),
  operator: z
    .array(manifestEntry())
    .default([])
    .meta({
      description:
        "Instead of version: the manifests of Calico's operator and its CRDs, of one version from 3.27 on, as files " +
        'or https:// URLs, e.g. a mirror; or mappings of source and sha256.',
    }),
  imageRepository: imageRepository().exactOptional().meta({
    description: "Where the operator takes Calico's images from. Default: what it was made with.",
  }),
  encapsulation: z
    .enum(['vxlan', 'vxlan-cross-subnet', 'ipip', 'ipip-cross-subnet', 'none'])
    .default('vxlan')
    .meta({
      description:
        'How packets reach pods of other hosts: by tunnels, by tunnels between subnets alone, or by routes (none: ' +
        'nothing between the hosts filters by address).',
    }),
  bgp: z
    .boolean()
    .exactOptional()
    .meta({
      description:
        'True: nodes tell each other by BGP, each with each, where pods are. Default: true with ipip and none, which ' +
        'need it; else false.',
    }),
  wireguard: z.boolean().default(false).meta({
    description: 'True: packets between pods of different hosts are encrypted, which needs kernel 5.6.',
  }),
});

/** `network.cilium:` */
export const ciliumSettings = z.strictObject({
  version: text(/^1\.\d+\.\d+$/, 'an exact version, e.g. "1.19.5"')
    .default('1.19.5')
    .meta({ description: 'Version of Cilium and of its chart. Upgrade one minor at a time.' }),
  chart: localPath()
    .exactOptional()
    .meta({
      examples: ['oci://registry.example.com/charts/cilium'],
      description:
        'The packaged chart: a .tgz file, an https:// URL of one or an oci:// reference, e.g. a mirror. Default: ' +
        'https://helm.cilium.io/cilium-<version>.tgz. Helm on this machine renders it.',
    }),
  sha256: sha256()
    .exactOptional()
    .meta({ description: 'SHA-256 of the packaged chart. Default: what kbuild knows of that version.' }),
  routing: z
    .enum(['vxlan', 'geneve', 'native'])
    .default('vxlan')
    .meta({
      description:
        'How packets reach pods of other hosts. vxlan, geneve: by tunnels. native: by routes; all hosts are in one ' +
        'network, and nothing between them filters by address.',
    }),
  port: port().exactOptional().meta({ description: 'UDP port of the tunnel. Default: 8472, or 6081 for geneve.' }),
  ipam: z.enum(['kubernetes', 'cluster-pool']).default('kubernetes').meta({
    description: "Who divides podSubnet among the nodes: Kubernetes, or Cilium's operator.",
  }),
  wireguard: z.boolean().default(false).meta({
    description: 'True: packets between pods of different hosts are encrypted, which needs kernel 5.6.',
  }),
  hubble: z.boolean().default(false).meta({
    description: "True: Hubble watches flows, with its relay. A Job of Cilium's certgen makes its certificates.",
  }),
  values: freeObject()
    .default({})
    .meta({
      examples: [{ bpf: { masquerade: true } }],
      description: "More values of Cilium's chart. What kbuild decides is refused with the setting to use.",
    }),
});

/** `network:` */
export const network = z
  .strictObject({
    plugin: z
      .enum(['flannel', 'calico', 'cilium', 'none'])
      .default('flannel')
      .meta({
        examples: ['none'],
        description:
          'Network plugin. calico: by its operator. cilium: by its chart, with or without kube-proxy. none: ' +
          'install one yourself, e.g. by manifests.',
      }),
    podSubnet: cidrs()
      .default('10.244.0.0/16')
      .meta({
        examples: ['10.244.0.0/16,fd00:10:244::/56'],
        description:
          'Addresses of pods: IPv4, IPv6, or both with a comma between them. The first family is the primary one for ' +
          'ever. Every node takes a /24 of it, or a /64 of IPv6.',
      }),
    serviceSubnet: cidrs()
      .default('10.96.0.0/12')
      .meta({
        examples: ['10.96.0.0/12,fd00:10:96::/112'],
        description:
          'Addresses of Services, of the families of podSubnet in the same order: /12 to /28, IPv6 /108 to /124.',
      }),
    mtu: z
      .number()
      .int()
      .min(1280)
      .max(65_535)
      .exactOptional()
      .meta({
        examples: [1430],
        description:
          'MTU of the interfaces of pods on Linux. Default: what the plugin makes of the interface of its host. Pods ' +
          'have it from their next start on.',
      }),
    moreServiceSubnets: z
      .array(cidr())
      .default([])
      .meta({
        examples: [['10.112.0.0/16']],
        description:
          'More addresses for Services, also of a live cluster: a ServiceCIDR each. One that you take out is ' +
          'deleted when no Service has an address of it.',
      }),
    kubeProxy: z
      .enum(['iptables', 'nftables', 'ipvs', 'none'])
      .exactOptional()
      .meta({
        description:
          'How kube-proxy serves Services: kubeadm.kubeProxy.mode in one word, also of a live cluster. none: a new ' +
          'cluster gets no kube-proxy; that of a live one is yours to delete first. Default: iptables.',
      }),
    flannel: z
      .strictObject({
        image: image().default('ghcr.io/flannel-io/flannel:v0.28.10').meta({ description: 'Image of flanneld.' }),
        cniPluginImage: image()
          .default('ghcr.io/flannel-io/flannel-cni-plugin:v1.9.1-flannel1')
          .meta({ description: 'Image that brings the CNI plugin.' }),
        backend: z
          .enum(['vxlan', 'host-gw'])
          .default('vxlan')
          .meta({
            description:
              'How packets reach pods of other hosts. vxlan: by tunnels. host-gw: by routes; all hosts are in one ' +
              'network, and nothing between them filters by address. A cloud needs a route for each node in its own ' +
              'table then.',
          }),
        port: port().exactOptional().meta({
          description: 'vxlan: UDP port. Default: 8472, or 4789 where there are Windows hosts, which know no other.',
        }),
        vni: z.number().int().min(1).max(16_777_215).exactOptional().meta({
          description:
            'vxlan: network identifier. Default: 1, or 4096 where there are Windows hosts, which take none below.',
        }),
        nftables: z
          .boolean()
          .exactOptional()
          .meta({
            description:
              'True: flanneld writes its rules with nftables, which needs kernel 5.13 on Linux hosts and nft in ' +
              'the image; flannel calls it experimental. False: with iptables. Default: true with ' +
              'network.kubeProxy: nftables and an image whose tag is 0.25.0 or newer.',
          }),
      })
      .prefault({})
      .meta({ description: 'Settings of flannel.' }),
    calico: calicoSettings.prefault({}).meta({ description: 'Settings of Calico.' }),
    loadBalancers: loadBalancers.exactOptional().meta({
      description:
        'Addresses for Services of type LoadBalancer where no cloud gives them. Default: kbuild sets up none.',
    }),
    nodeLocalDNS: nodeLocalDns.exactOptional().meta({
      examples: [{}],
      description:
        'A cache of DNS on every node (NodeLocal DNSCache), which pods ask before CoreDNS. {}: with all defaults. ' +
        'Default: none.',
    }),
    cilium: ciliumSettings.exactOptional().meta({ description: 'Settings of Cilium.' }),
    windows,
    testImage: image()
      .exactOptional()
      .meta({
        description:
          'Image with agnhost for tests of the network from pods; one that has a variant for each system. Default: ' +
          'registry.k8s.io/e2e-test-images/agnhost:2.53, and with Windows hosts 2.62, which has both builds.',
      }),
  })
  .prefault({})
  .meta({ description: 'The network of pods and Services.' });
