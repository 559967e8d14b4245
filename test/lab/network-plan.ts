/** The machine's address on the hosts' network: registry, packages, and nothing else. */
export const GATEWAY = '10.77.0.1';

/** Image registry, plain HTTP: a mirror of registry.k8s.io and ghcr.io. */
export const REGISTRY_PORT = 5000;

/** The same images by TLS with the lab's own authority, for who has the password. */
export const PRIVATE_REGISTRY_PORT = 5001;
export const PRIVATE_REGISTRY = {
  url: `https://${GATEWAY}:${PRIVATE_REGISTRY_PORT}`,
  username: 'kbuild',
  password: 'lab-secret',
} as const;

/** bcrypt of that password, the one form the registry takes. */
export const PRIVATE_REGISTRY_BCRYPT = '$2b$05$kbuildlabkbuildlabkbueOUQPTfejKvdnMtgQfXg8yKoCxTHBsLq';

/** Images that are made when a test asks for them, plain HTTP. */
export const MORE_IMAGES_PORT = 5002;

/** The same for Cilium's images. */
export const CILIUM_IMAGES_PORT = 5003;

/** The same for Calico's images. */
export const CALICO_IMAGES_PORT = 5004;

/** The same for MetalLB's images. */
export const METALLB_IMAGES_PORT = 5005;

/** The same for the images of the conformance specifications. */
export const CONFORMANCE_IMAGES_PORT = 5006;

/** Package repositories, plain HTTP with signed indexes. */
export const PACKAGES_PORT = 8080;

/** Base URL of the package repositories. */
export const PACKAGES_URL = `http://${GATEWAY}:${PACKAGES_PORT}`;

/** URL of the image registry. */
export const REGISTRY_URL = `http://${GATEWAY}:${REGISTRY_PORT}`;

/** URL of the registry of images that are made when a test asks for them. */
export const MORE_IMAGES_URL = `http://${GATEWAY}:${MORE_IMAGES_PORT}`;

/** URL of the registry of Cilium's images. */
export const CILIUM_IMAGES_URL = `http://${GATEWAY}:${CILIUM_IMAGES_PORT}`;

/** URL of the registry of Calico's images. */
export const CALICO_IMAGES_URL = `http://${GATEWAY}:${CALICO_IMAGES_PORT}`;

/** URL of the registry of MetalLB's images. */
export const METALLB_IMAGES_URL = `http://${GATEWAY}:${METALLB_IMAGES_PORT}`;

/** URL of the registry of the conformance specifications' images. */
export const CONFORMANCE_IMAGES_URL = `http://${GATEWAY}:${CONFORMANCE_IMAGES_PORT}`;

/** Bridges and the networks behind them: SSH and the way out; the cluster's own where a host has two interfaces. */
export const BRIDGES = [
  { name: 'kblab0', address: `${GATEWAY}/24`, mac: '02:4b:4c:42:00:01' },
  { name: 'kblab1', address: '10.77.1.1/24', mac: '02:4b:4c:42:01:01' },
] as const;

/** Last octets that hosts get. 200–250 are free for virtual addresses in tests, the lab never gives them out. */
export const FIRST_OCTET = 11;
export const LAST_OCTET = 199;

/** Address on the first network. */
export const addressOf = (octet: number): string => `10.77.0.${octet}`;

/** Address on the cluster network, of hosts with two interfaces. */
export const internalAddressOf = (octet: number): string => `10.77.1.${octet}`;

/** The machine's end of a host's first (0) or second (1) interface; 15 characters is the kernel's limit, so not by name. */
export const portOf = (octet: number, nic: 0 | 1): string => `kbh${octet}n${nic}`;

/** The host's network namespace. */
export const namespaceOf = (name: string): string => `kblab-${name}`;
