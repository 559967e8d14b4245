import type { Taint, WindowsHost } from '../inventory/inventory.ts';

/** Keeps pods without a toleration for Windows off the node. Set when the node registers. */
export const WINDOWS_TAINT: Taint = { key: 'os', value: 'windows', effect: 'NoSchedule' };

/** The taints with which a Windows host registers. */
export const windowsTaints = ({ taints }: WindowsHost): readonly Taint[] => taints ?? [WINDOWS_TAINT];
