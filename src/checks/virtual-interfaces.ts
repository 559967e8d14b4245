import { isPluginInterface } from '../components/network-plugins/index.ts';

/**
 * Interfaces of software (bridges, tunnels, pods): their addresses are the same on many hosts, and mean nothing outside of
 * the host. An address on a VXLAN that is not a network plugin's may connect hosts, and counts.
 */
const VIRTUAL = /^(?:lo|docker|br-|veth|virbr|lxcbr|lxdbr|podman|cni|tun|tap|kube-|nodelocaldns)/;

/** True for the name of an interface that no other host reaches. */
export const isVirtualInterface = (name: string): boolean => VIRTUAL.test(name) || isPluginInterface(name);
