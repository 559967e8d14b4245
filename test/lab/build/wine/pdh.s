# Performance counters that can be opened and have no data (PDH_NO_DATA): wine 8 has no counters of processes, memory and
# adapters, and the kubelet ends where it cannot open one. It logs those that have no data, and goes on.
	.intel_syntax noprefix
	.text
	.globl PdhOpenQuery, PdhOpenQueryW, PdhAddCounterW, PdhAddEnglishCounterW, PdhCloseQuery, PdhCollectQueryData
	.globl PdhValidatePathW, PdhGetFormattedCounterValue, PdhGetFormattedCounterArrayW
PdhOpenQuery:
PdhOpenQueryW:
	mov	qword ptr [r8], 1
	xor	eax, eax
	ret
PdhAddCounterW:
PdhAddEnglishCounterW:
	mov	qword ptr [r9], 1
	xor	eax, eax
	ret
PdhCloseQuery:
PdhCollectQueryData:
PdhValidatePathW:
	xor	eax, eax
	ret
PdhGetFormattedCounterValue:
PdhGetFormattedCounterArrayW:
	mov	eax, 0x800007d5
	ret
