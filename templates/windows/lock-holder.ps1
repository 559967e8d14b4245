# Returns the holder of the lock Lock; null if it is free. Force `yes` ends only the holding process.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Lock,
    [Parameter(Mandatory = $true)][ValidateSet('yes', 'no')][string]$Force
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$holder = $null
if (Test-Path -LiteralPath $Lock) {
    $file = Open-LockFile -Path $Lock
    if ($null -ne $file) { Close-LockFile -File $file }
    else {
        $other = Get-LockHolder -Path $Lock
        $holder = $other.holder
        if ($Force -eq 'yes') {
            Stop-LockHolder -Other $other
            $deadline = (Get-Date).AddSeconds(5)
            while ($null -eq $file -and (Get-Date) -lt $deadline) {
                Start-Sleep -Milliseconds 100
                $file = Open-LockFile -Path $Lock
            }
            if ($null -ne $file) { Close-LockFile -File $file }
        }
    }
}
Write-Result -Value $holder
