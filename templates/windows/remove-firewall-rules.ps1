# Removes rules from the firewall. Skips missing rules. Names: the rules.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($name in $Names) {
    if ($null -ne (Find-Existing -Look { Get-NetFirewallRule -Name $name -ErrorAction 'Stop' })) { Remove-NetFirewallRule -Name $name }
}
Write-Result -Value @{ removed = @($Names) }
