# Removes networks of the Host Networking Service with their endpoints. The host's own connection drops for seconds.
# Names: the networks.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
if ($null -ne (Find-Existing -Look { Get-Command -Name 'Get-HnsNetwork' -ErrorAction 'Stop' })) {
    foreach ($endpoint in @(Get-HnsEndpoint)) {
        if ($Names -contains "$(Get-PropertyOrNull -Of $endpoint -Name 'VirtualNetworkName')") { $endpoint | Remove-HnsEndpoint | Out-Null }
    }
    foreach ($name in $Names) {
        foreach ($network in @(Get-HnsNetworkByName -Name $name)) { $network | Remove-HnsNetwork | Out-Null }
    }
}
Write-Result -Value @{ removed = @($Names) }
